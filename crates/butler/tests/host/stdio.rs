//! `butler mcp`: the tools over stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{HALF_AN_EMOJI, Serving, butler, eventually, is_alive, postgres_pid, wait};

struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Number of protocol messages read from stdout so far.
    lines: usize,
}

impl Session {
    fn start(data_dir: &Path, args: &[&str]) -> Self {
        let mut child = butler()
            .args(["-vv", "mcp", "--data-dir"])
            .arg(data_dir)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self { child, stdin, stdout, lines: 0 };
        let initialized = session.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert!(initialized["result"]["serverInfo"]["name"].as_str().unwrap().starts_with("butler"), "{initialized}");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        session
    }

    fn send(&mut self, message: &impl std::fmt::Display) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.lines + 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.read().expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        self.lines += 1;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout is polluted: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "stdout is polluted: {line:?}");
        Some(message)
    }

    /// Calls a tool, and retries while the server is starting.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        eventually(Duration::from_secs(300), "the server starts", || {
            let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
            let starting = answer.to_string().contains("the server is still starting");
            (!starting).then(|| answer["result"].clone())
        })
    }

    /// Closes stdin and waits for the exit code. The rest of stdout must be protocol messages, too.
    fn end(mut self) -> Option<i32> {
        self.stdin = None;
        while self.read().is_some() {}
        wait(&mut self.child, Duration::from_secs(60)).code()
    }
}

#[test]
fn a_stdio_session_ends_at_the_end_of_stdin_and_stops_its_postgres() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let mut session = Session::start(&data_dir, &[]);
    let listed = session.request("tools/list", json!({}));
    assert!(listed["result"]["tools"].as_array().unwrap().len() >= 3, "{listed}");
    let stored = session.call("memory_store_episode", json!({"content": "over stdio", "butler": "general"}));
    assert_eq!(stored["isError"], json!(false), "{stored}");
    let stats = session.call("memory_stats", json!({}));
    assert_eq!(stats["structuredContent"]["episodes"]["total"], 1, "{stats}");
    let postgres = postgres_pid(&data_dir).unwrap();
    assert_eq!(session.end(), Some(0));
    eventually(Duration::from_secs(60), "PostgreSQL ends", || (!is_alive(postgres)).then_some(()));
}

#[test]
fn a_stdio_session_works_while_a_server_runs_on_the_same_data() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    server.mcp().store_episode("over HTTP").unwrap();
    let mut session = Session::start(&server.data_dir, &[]);
    session.call("memory_store_episode", json!({"content": "over stdio", "butler": "general"}));
    let stats = session.call("memory_stats", json!({}));
    assert_eq!(stats["structuredContent"]["episodes"]["total"], 2, "{stats}");
    assert_eq!(session.end(), Some(0));
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 2, "the server keeps running");
}

#[test]
fn a_tenant_named_on_the_command_line_is_fixed_for_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mut session = Session::start(&server.data_dir, &["--tenant", "ann"]);
    session.call("memory_store_episode", json!({"content": "Ann's", "butler": "general"}));
    let other = session.call("memory_stats", json!({"request_context": {"tenant_id": "bob"}}));
    assert_eq!(other["isError"], json!(true), "{other}");
    let error: Value = serde_json::from_str(other["content"][0]["text"].as_str().unwrap()).unwrap();
    for key in ["error", "message", "hint"] {
        assert!(error[key].is_string(), "{key} of {error}");
    }
    assert_eq!(session.end(), Some(0));
    let of = |tenant: &str| server.mcp().call("memory_stats", json!({"request_context": {"tenant_id": tenant}}));
    assert_eq!(of("ann")["episodes"]["total"], 1);
    assert_eq!(of("default")["episodes"]["total"], 0);
}

#[test]
fn a_failed_start_is_reported_to_the_agent_and_exits_with_code_1() {
    let dir = tempfile::tempdir().unwrap();
    let unreachable = "postgres://u:p@127.0.0.1:1/x";
    let mut session = Session::start(&dir.path().join("data"), &["--database-url", unreachable]);
    let answer = session.call("memory_stats", json!({}));
    let error: Value = serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"], "unavailable", "{error}");
    assert!(error["message"].as_str().unwrap().contains("127.0.0.1"), "{error}");
    assert_eq!(session.end(), Some(1));
}

#[test]
fn a_lone_surrogate_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mut session = Session::start(&server.data_dir, &[]);
    // Waits for the start.
    session.call("memory_stats", json!({}));
    session.send(&HALF_AN_EMOJI);
    let answer = session.read().expect("an answer");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let stored = server.get("/api/memory/facts").json();
    assert_eq!(stored["data"][0]["content"], "half \u{fffd}", "{stored}");
    assert_eq!(session.end(), Some(0));
}
