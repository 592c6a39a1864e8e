//! Clients that hold many connections open do not keep others out.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::{Answer, Serving, butler, eventually, run, stderr, stdout};

const SOON: Duration = Duration::from_secs(60);

/// Starts a server that may open this many files, and cannot raise the limit.
fn serve_with_files(files: usize, data_dir: &Path, args: &[&OsStr]) -> Serving {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]).arg(butler().get_program());
    command.env_remove("BUTLER_DATABASE_URL").env_remove("BUTLER_CONFIG").env_remove("BUTLER_LOG");
    Serving::by(command, data_dir, args)
}

/// Opens a connection, sends a request and reads the response. The connection stays open.
fn keep_alive(server: &Serving, path: &str) -> std::io::Result<(TcpStream, String)> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_read_timeout(Some(SOON))?;
    let text = ask(&mut stream, server, path)?;
    Ok((stream, text))
}

fn ask(stream: &mut TcpStream, server: &Serving, path: &str) -> std::io::Result<String> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address).as_bytes())?;
    let mut buffer = vec![0; 4096];
    let read = stream.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..read]).into_owned())
}

fn create_token(server: &Serving) -> String {
    let output = run(["token", "create", "--tenant", "default", "--data-dir", server.data_dir.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

fn metric(metrics: &Answer, name: &str) -> u64 {
    let text = metrics.text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn hundreds_of_idle_connections_do_not_starve_a_token_holder() {
    let dir = tempfile::tempdir().unwrap();
    let server = serve_with_files(256, &dir.path().join("data"), &[]);
    let token = create_token(&server);
    let mcp = server.mcp().with(&token);
    mcp.call("memory_store_fact", json!({"subject": "a", "predicate": "is", "content": "b"}));
    // A client with a token keeps its connection.
    let mut holder = TcpStream::connect(server.address).unwrap();
    holder.set_read_timeout(Some(SOON)).unwrap();
    let get =
        format!("GET /api/memory/stats HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", server.address);
    let mut ask_with_token = || {
        holder.write_all(get.as_bytes()).unwrap();
        let mut buffer = vec![0; 16384];
        let read = holder.read(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    };
    assert!(ask_with_token().starts_with("HTTP/1.1 200"));

    let mut idle = Vec::new();
    for n in 0..600 {
        let (stream, text) = keep_alive(&server, "/healthz").unwrap_or_else(|error| panic!("connection {n}: {error}"));
        assert!(text.starts_with("HTTP/1.1 200"), "connection {n}: {text}");
        idle.push(stream);
    }
    // And as many that never send anything.
    idle.extend((0..600).map(|_| TcpStream::connect(server.address).unwrap()));

    let started = Instant::now();
    for _ in 0..20 {
        mcp.call("memory_stats", json!({}));
    }
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert!(ask_with_token().starts_with("HTTP/1.1 200"), "its connection was not replaced");
    assert_eq!(server.get("/readyz").status, 200, "PostgreSQL has its descriptors");
    let metrics = server.get("/metrics");
    assert!(metric(&metrics, "butler_client_connections_open") <= 128, "{}", metrics.text());
    assert_eq!(metric(&metrics, "butler_client_connections_max"), 128);
    assert!(metric(&metrics, "butler_client_connections_closed_total{reason=\"replaced\"}") >= 1000);
    let log = server.log();
    assert!(log.contains("all connections are open") && log.contains("limit of open files"), "{log}");
    let blamed = log.lines().find(|line| !line.contains(" INFO ") && line.contains("PostgreSQL"));
    assert_eq!(blamed, None, "PostgreSQL is not the cause");
    drop(idle);
    assert_eq!(server.stop().0.code(), Some(0));
}

#[test]
fn connections_in_use_are_not_replaced_and_a_token_has_a_limited_number_of_streams() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("butler.toml");
    std::fs::write(&config, "[server]\nclient_connections = 8\nstreams_per_token = 7\n").unwrap();
    let server = Serving::with(&dir.path().join("data"), &[OsStr::new("--config"), config.as_os_str()]);
    let mut streams: Vec<TcpStream> = (0..7).map(|_| keep_alive(&server, "/api/events").unwrap().0).collect();
    let refused = server.get("/api/events");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!("rate_limited")), "{}", refused.text());
    // The eighth place is enough for one request after the other.
    for _ in 0..5 {
        assert_eq!(server.get("/healthz").status, 200);
    }
    // An upload that does not end takes the last place. The server has begun to read it when it asks for the body.
    let mut upload = TcpStream::connect(server.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\
         Expect: 100-continue\r\n\r\n",
        server.address
    );
    upload.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; 12];
    upload.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100");
    let answer = eventually(SOON, "all connections are in use", || {
        let answer = server.get("/healthz");
        (answer.status != 200).then_some(answer)
    });
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (503, &json!("unavailable")));
    assert!(answer.head.contains("Retry-After: 1"), "{}", answer.head);
    // A closed stream makes room.
    drop(streams.pop());
    eventually(SOON, "there is room again", || (server.get("/healthz").status == 200).then_some(()));
    drop(upload);
}

#[test]
fn an_idle_connection_is_closed_and_a_stream_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("butler.toml");
    std::fs::write(&config, "[server]\nidle_timeout_s = 1.0\n").unwrap();
    let server = Serving::with(&dir.path().join("data"), &[OsStr::new("--config"), config.as_os_str()]);
    let (mut events, _) = keep_alive(&server, "/api/events").unwrap();
    let (mut idle, text) = keep_alive(&server, "/healthz").unwrap();
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert_eq!(idle.read(&mut [0; 16]).unwrap(), 0, "the server closes the idle connection");
    assert_eq!(metric(&server.get("/metrics"), "butler_client_connections_closed_total{reason=\"idle\"}"), 1);
    server.mcp().call("memory_store_fact", json!({"subject": "a", "predicate": "is", "content": "b"}));
    let mut seen = String::new();
    eventually(SOON, "an event arrives", || {
        let mut buffer = [0; 1024];
        let read = events.read(&mut buffer).unwrap();
        assert!(read > 0, "the stream is open");
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
        seen.contains("event: memory").then_some(())
    });
}
