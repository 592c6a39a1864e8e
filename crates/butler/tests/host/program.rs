//! Starts and stops the real binary, and sends HTTP requests to it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

/// Long enough for a first start that downloads, on a machine busy with other tests.
const START: Duration = Duration::from_secs(300);
const STOP: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(60);

pub fn butler() -> Command {
    // Benchmarks may use another build of the program.
    let program = std::env::var_os("BUTLER_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_butler").into());
    let mut command = Command::new(program);
    for name in [
        "BUTLER_DATA_DIR",
        "BUTLER_CONFIG",
        "BUTLER_ROSTER",
        "BUTLER_DATABASE_URL",
        "BUTLER_LISTEN",
        "BUTLER_LOG",
        "BUTLER_TRIGGER_SOURCE",
        "BUTLER_SESSION_ID",
    ] {
        command.env_remove(name);
    }
    // Help is wrapped to the width of the terminal, and tests have no terminal.
    command.env("COLUMNS", "100");
    command
}

/// Runs a command and waits for it.
pub fn run(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    butler().args(args).stdin(Stdio::null()).output().expect("butler runs")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A running `butler serve`, stopped when dropped.
pub struct Serving {
    child: Child,
    pub address: SocketAddr,
    pub data_dir: PathBuf,
    log: PathBuf,
    /// Lines on stdout after the ready line; there should be none.
    rest: mpsc::Receiver<String>,
    /// Whether the test killed it. Its PostgreSQL then keeps running for the next server.
    killed: bool,
}

/// A data directory after a first start and a clean stop.
static PREPARED: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prepared-data");
    if dir.exists() {
        std::fs::remove_dir_all(&dir).unwrap();
    }
    Serving::first(&dir).stop();
    dir
});

impl Serving {
    /// A server on this data directory. A new one is a copy of a prepared one: creating and migrating a database takes longer
    /// than what most tests do with it.
    pub fn on(data_dir: &Path) -> Self {
        if !data_dir.exists() {
            let copied = Command::new("cp").arg("-a").arg(&*PREPARED).arg(data_dir).status().expect("cp runs");
            assert!(copied.success(), "cannot copy {}", PREPARED.display());
        }
        Self::with(data_dir, &[])
    }

    /// A server that creates its database.
    pub fn first(data_dir: &Path) -> Self {
        Self::with(data_dir, &[])
    }

    pub fn with(data_dir: &Path, args: &[&OsStr]) -> Self {
        Self::by(butler(), data_dir, args)
    }

    /// Starts a server with a prepared command, for example with environment variables.
    pub fn by(mut butler: Command, data_dir: &Path, args: &[&OsStr]) -> Self {
        std::fs::create_dir_all(data_dir).unwrap();
        let log = data_dir.with_extension("log");
        let stderr = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let listen: &[&str] = if args.contains(&OsStr::new("--listen")) { &[] } else { &["--listen", "127.0.0.1:0"] };
        let mut child = butler
            .arg("serve")
            .args(listen)
            .arg("--data-dir")
            .arg(data_dir)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("butler starts");
        let lines = lines_of(child.stdout.take().unwrap());
        let ready = lines.recv_timeout(START).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("butler did not become ready; its log:\n{}", std::fs::read_to_string(&log).unwrap_or_default())
        });
        let address = ready.strip_prefix("ready http://").or_else(|| ready.strip_prefix("ready https://"));
        let address = address.unwrap_or_else(|| panic!("the first line was {ready:?}"));
        Self {
            child,
            address: address.parse().unwrap(),
            data_dir: data_dir.to_path_buf(),
            log,
            rest: lines,
            killed: false,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub fn mcp(&self) -> Mcp {
        Mcp { address: self.address, path: "/mcp".to_owned(), token: None }
    }

    /// The bearer that commands on this machine use.
    pub fn secret(&self) -> String {
        let state = std::fs::read(self.data_dir.join("serve.json")).unwrap();
        let state: Value = serde_json::from_slice(&state).unwrap();
        state["secret"].as_str().unwrap().to_owned()
    }

    pub fn get_with(&self, path: &str, token: &str) -> Answer {
        request(self.address, "GET", path, &[("Authorization", &format!("Bearer {token}"))], b"")
    }

    pub fn get(&self, path: &str) -> Answer {
        request(self.address, "GET", path, &[], b"")
    }

    pub fn is_ready_soon(&self) {
        eventually(ANSWER, "ready", || (self.get("/readyz").status == 200).then_some(()));
    }

    /// The process id of the private PostgreSQL.
    pub fn postgres_pid(&self) -> i32 {
        postgres_pid(&self.data_dir).expect("the private PostgreSQL runs")
    }

    pub fn signal(&self, signal: Signal) {
        send(self.child.id() as i32, signal);
    }

    /// Sends SIGTERM. Returns the exit status and the remaining lines of stdout.
    pub fn stop(mut self) -> (ExitStatus, Vec<String>) {
        self.signal(Signal::TERM);
        let status = wait(&mut self.child, STOP);
        (status, self.rest.iter().collect())
    }

    /// Sends SIGKILL, so that the server cannot shut down cleanly.
    pub fn kill(mut self) {
        self.killed = true;
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_none() {
            self.signal(Signal::TERM);
            wait(&mut self.child, STOP);
        }
        if std::thread::panicking() {
            eprintln!("the log of butler:\n{}", self.log());
        }
        if self.killed {
            return;
        }
        // PostgreSQL keeps running after a crash of butler, for the next start. There is none after the test.
        if let Some(pid) = postgres_pid(&self.data_dir).filter(|pid| is_alive(*pid)) {
            send(pid, Signal::INT);
        }
    }
}

fn lines_of(stdout: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

pub fn postgres_pid(data_dir: &Path) -> Option<i32> {
    std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).ok()?.lines().next()?.parse().ok()
}

pub fn send(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).expect("a process id"), signal);
}

/// Whether the process is running. A zombie is not.
pub fn is_alive(pid: i32) -> bool {
    let ended = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    !ended && Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

pub fn wait(child: &mut Child, timeout: Duration) -> ExitStatus {
    eventually(timeout, "the process exits", || child.try_wait().unwrap())
}

/// Polls until there is a result.
pub fn eventually<T>(timeout: Duration, what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = poll() {
            return answer;
        }
        assert!(started.elapsed() < timeout, "timed out after {timeout:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub fn request(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    try_request(address, method, path, headers, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
}

/// Sends a request over HTTP/1.0, so that the response is never chunked. `Host` is the address unless a header sets it.
pub fn try_request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Answer> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER))?;
    exchange(stream, address, method, path, headers, body)
}

/// Sends a request over an open connection.
pub fn exchange(
    mut stream: impl Read + Write,
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Answer> {
    let mut head = format!("{method} {path} HTTP/1.0\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(body)?;
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw)?;
    let bad = || std::io::Error::new(std::io::ErrorKind::InvalidData, "not an HTTP response");
    let end = raw.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(bad)?;
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(bad)?;
    Ok(Answer { status, head, body: raw[end + 4..].to_vec() })
}

pub const MCP_HEADERS: [(&str, &str); 2] =
    [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];

/// A call that stores a fact whose text a client cut in the middle of an emoji. Written as text, because no JSON value
/// can hold a lone surrogate.
pub const HALF_AN_EMOJI: &str = concat!(
    r#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "memory_store_fact", "#,
    r#""arguments": {"subject": "emoji", "predicate": "is", "content": "half \ud83d"}}}"#
);

/// A client for a butler's tools over HTTP with the 2025 protocol: no session, one POST per call.
#[derive(Clone)]
pub struct Mcp {
    pub address: SocketAddr,
    pub path: String,
    pub token: Option<String>,
}

impl Mcp {
    pub fn with(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Sends a body and returns the HTTP response.
    pub fn post(&self, body: &str) -> std::io::Result<Answer> {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut headers = MCP_HEADERS.to_vec();
        headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        try_request(self.address, "POST", &self.path, &headers, body.as_bytes())
    }

    pub fn rpc(&self, method: &str, params: Value) -> Value {
        self.try_rpc(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    pub fn try_rpc(&self, method: &str, params: Value) -> std::io::Result<Value> {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let answer = self.post(&body)?;
        let value: Value = serde_json::from_slice(&answer.body).map_err(std::io::Error::other)?;
        assert_eq!(value["id"], 7, "{value}");
        Ok(value)
    }

    /// Calls a tool and returns its structured result.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.try_call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// Calls a tool. The error is the tool's error, or the reason why there was no response.
    pub fn try_call(&self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self
            .try_rpc("tools/call", json!({"name": tool, "arguments": arguments}))
            .map_err(|error| json!({"error": "connection", "message": error.to_string()}))?;
        let result = &answer["result"];
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            return Err(serde_json::from_str(text).unwrap_or_else(|_| panic!("not JSON: {text}")));
        }
        assert!(result["structuredContent"].is_object(), "{answer}");
        Ok(result["structuredContent"].clone())
    }

    pub fn store_episode(&self, content: &str) -> Result<String, Value> {
        let stored = self.try_call("memory_store_episode", json!({"content": content, "butler": "general"}))?;
        Ok(stored["id"].as_str().expect("an id").to_owned())
    }
}

/// Runs a statement as the owner role.
pub fn sql(url: &str, statement: &'static str) {
    use sqlx::{ConnectOptions, Connection};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options: sqlx::postgres::PgConnectOptions = url.trim().parse().unwrap();
        let mut connection = options.connect().await.unwrap();
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

/// Starts a server for its private PostgreSQL, and returns the URL of a new database in it.
pub fn foreign_database(dir: &Path, name: &'static str, create: &'static str) -> (Serving, String) {
    let server = Serving::on(dir);
    let url = run(["db".as_ref(), "url".as_ref(), "--data-dir".as_ref(), dir.as_os_str()]);
    let url = stdout(&url).trim().to_owned();
    sql(&url, create);
    let url = url.replacen("/general?", &format!("/{name}?"), 1);
    (server, url)
}
