//! Helpers shared by the tests of the real server.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use butler_postgres::{Options, PostgresError, Server};

/// Uses the developer's cache, so that the runtime is fetched only once.
pub fn options(data_dir: &Path) -> Options {
    Options { data_dir: data_dir.to_path_buf(), runtime_dir: None, cache_dir: butler_fetch::default_cache_dir() }
}

pub async fn start(data_dir: &Path) -> Result<Server, PostgresError> {
    Server::start(options(data_dir), Arc::new(butler_fetch::Silent)).await
}

/// Runs SQL with the server's own psql.
pub fn try_psql(bin_dir: &Path, url: &str, sql: &str) -> Result<String, String> {
    let out =
        Command::new(bin_dir.join("psql")).args(["-XAtq", "-v", "ON_ERROR_STOP=1", url, "-c", sql]).output().unwrap();
    if out.status.success() {
        return Ok(String::from_utf8(out.stdout).unwrap().trim().to_owned());
    }
    Err(String::from_utf8_lossy(&out.stderr).into_owned())
}

pub fn psql(server: &Server, sql: &str) -> String {
    try_psql(server.bin_dir(), &server.url("postgres"), sql).unwrap()
}

pub fn up(data_dir: &Path) -> bool {
    butler_postgres::running(data_dir).unwrap().is_some()
}

/// A separate process that uses the server of a data directory.
pub struct Hold {
    child: Child,
    stdin: Option<ChildStdin>,
    pub pid: i32,
    pub url: String,
}

impl Hold {
    pub fn start(data_dir: &Path) -> Self {
        Self::as_user(data_dir, None, Path::new(env!("CARGO_BIN_EXE_postgres-hold")), None).unwrap()
    }

    /// The error contains the output of a process that did not become ready.
    pub fn as_user(data_dir: &Path, user: Option<u32>, program: &Path, runtime: Option<&Path>) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.arg(data_dir).arg(butler_fetch::default_cache_dir()).arg(runtime.unwrap_or(Path::new("-")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir("/");
        if let Some(uid) = user {
            command.uid(uid).gid(uid);
        }
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said: Vec<String> = lines.map(Result::unwrap).take(1).collect();
        let words: Vec<&str> = said.first().map(|line| line.splitn(4, ' ').collect()).unwrap_or_default();
        match words[..] {
            ["ready", pid, url, _bin_dir] => Ok(Self { pid: pid.parse().unwrap(), url: url.to_owned(), child, stdin }),
            _ => {
                child.wait().unwrap();
                Err(said.concat())
            }
        }
    }

    /// Ends the process normally. Returns true if it reported success.
    pub fn stop(mut self) -> bool {
        drop(self.stdin.take());
        self.child.wait().unwrap().success()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn signal(pid: i32, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
}

pub fn pid_file(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres/postmaster.pid")
}
