//! Load: 10 000 requests with a token over 64 connections, without errors and without memory growth.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Output;

use serde_json::{Value, json};

use crate::program::{Serving, eventually, run, stderr};

const CONNECTIONS: usize = 64;
const REQUESTS: usize = 10_000;
/// Allowed growth: the buffers of 64 connections and memory that the allocator retains. A leak of one kilobyte per
/// request would add 10 MiB per round.
const GROWTH_KIB: u64 = 16 * 1024;

/// A connection that stays open, as clients keep it.
struct Connection {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Connection {
    fn open(address: SocketAddr, token: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        );
        Self { stream: BufReader::new(stream), head }
    }

    /// Returns the body of a 200 response. Any other status fails the test.
    fn request(&mut self, body: &str) -> Value {
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (String::new(), 0);
        self.stream.read_line(&mut status).unwrap();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        assert!(status.contains(" 200 "), "{status}{}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).unwrap()
    }
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn round(address: SocketAddr, token: &str, body: &str, requests: usize) {
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let mut connection = Connection::open(address, token);
                for _ in 0..requests / CONNECTIONS + 1 {
                    let answer = connection.request(body);
                    assert!(answer["result"]["isError"] != true && answer["error"].is_null(), "{answer}");
                }
            });
        }
    });
}

#[test]
#[ignore = "takes a minute in a debug build on a busy machine; cargo xtask torture runs it"]
fn ten_thousand_requests_from_64_connections_end_without_an_error_and_without_growth() {
    let dir = tempfile::tempdir().unwrap();
    // The default rate limit would reject so many requests from one token.
    let server = Serving::with(&dir.path().join("data"), &["--rate-limit".as_ref(), "0".as_ref()]);
    let made: Output = run(["token", "create", "--json", "--data-dir"]
        .map(std::ffi::OsStr::new)
        .into_iter()
        .chain([server.data_dir.as_os_str()]));
    assert!(made.status.success(), "{}", stderr(&made));
    let token = serde_json::from_slice::<Value>(&made.stdout).unwrap()["token"].as_str().unwrap().to_owned();
    let mcp = server.mcp().with(&token);
    eventually(std::time::Duration::from_secs(60), "the token takes effect", || {
        mcp.try_call("memory_stats", json!({})).ok()
    });
    let call = json!({"name": "memory_search", "arguments": {"query": "tea", "mode": "keyword", "limit": 1}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
    // The first round fills pools and caches. Only what the second round adds counts as growth.
    round(server.address, &token, &body, REQUESTS / 5);
    let before = resident_kib(server.pid());
    round(server.address, &token, &body, REQUESTS);
    let after = resident_kib(server.pid());
    eprintln!("resident: {before} KiB before, {after} KiB after");
    assert!(after.saturating_sub(before) < GROWTH_KIB, "it grew from {before} to {after} KiB");
    assert!(after < 350 * 1024, "{after} KiB");
}
