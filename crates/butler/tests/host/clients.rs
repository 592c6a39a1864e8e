//! Real MCP clients, each over HTTP and over stdio.
//!
//! They are installed once into the target directory, at pinned versions. On a machine without pip or npm set
//! `BUTLER_TEST_SKIP_CLIENTS=1`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Serving, butler, eventually};

const SKIP: &str = "BUTLER_TEST_SKIP_CLIENTS";

pub fn skipped() -> bool {
    std::env::var_os(SKIP).is_some_and(|value| !value.is_empty())
}

pub fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// Installs clients into `<target>/clients/<kind>` if their list changed. A lock serialises the tests.
fn installed(kind: &str, list: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_butler")).ancestors().nth(2).unwrap();
    let dir = target.join("clients").join(kind);
    std::fs::create_dir_all(&dir).unwrap();
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let requested = std::fs::read_to_string(scripts().join(list)).unwrap();
    let marker = dir.join("installed");
    if std::fs::read_to_string(&marker).ok().as_deref() != Some(&requested) {
        install(&dir);
        std::fs::write(&marker, requested).unwrap();
    }
    dir
}

#[track_caller]
fn run_successfully(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{what} is needed to test with real MCP clients ({error}); install it, or set {SKIP}=1")
    });
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{what} failed:\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

pub fn python() -> PathBuf {
    let dir = installed("python", "requirements.txt", |dir| {
        let venv = dir.join("venv");
        run_successfully(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv), "python3 with venv");
        let requirements = scripts().join("requirements.txt");
        run_successfully(
            Command::new(venv.join("bin/pip")).args(["install", "--quiet", "--retries", "8", "-r"]).arg(requirements),
            "pip",
        );
    });
    dir.join("venv/bin/python")
}

/// Copies a script next to the node_modules directory, where node looks for packages.
pub fn node(script: &str) -> PathBuf {
    let dir = installed("node", "package.json", |dir| {
        std::fs::copy(scripts().join("package.json"), dir.join("package.json")).unwrap();
        run_successfully(
            Command::new("npm").args(["install", "--no-audit", "--no-fund", "--fetch-retries=8"]).current_dir(dir),
            "npm",
        );
    });
    let copy = dir.join(script);
    std::fs::copy(scripts().join(script), &copy).unwrap();
    copy
}

/// Runs a client script over HTTP against a server, and over stdio while that server runs.
fn converse(program: &Path, script: &Path, expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let url = format!("http://{}/mcp", server.address);
    let http = run_successfully(Command::new(program).arg(script).args(["http", &url]), "the client over HTTP");
    let stdio = run_successfully(
        Command::new(program)
            .arg(script)
            .args(["stdio", env!("CARGO_BIN_EXE_butler"), "mcp", "--data-dir"])
            .arg(&server.data_dir),
        "the client over stdio",
    );
    for line in expected {
        assert!(http.contains(line), "{line:?} is missing over HTTP:\n{http}");
        assert!(stdio.contains(line), "{line:?} is missing over stdio:\n{stdio}");
    }
}

#[test]
fn the_python_clients_mcp_and_fastmcp_list_and_call_the_tools() {
    if skipped() {
        return;
    }
    let expected = ["ok mcp legacy 2025-", "ok mcp 2026-07-28 2026-07-28", "ok mcp auto", "ok fastmcp"];
    converse(&python(), &scripts().join("client.py"), &expected);
}

#[test]
fn the_typescript_clients_of_both_generations_list_and_call_the_tools() {
    if skipped() {
        return;
    }
    converse(Path::new("node"), &node("client.mjs"), &["ok sdk", "ok client"]);
}

#[test]
fn the_inspectors_cli_lists_and_calls_the_tools() {
    if skipped() {
        return;
    }
    converse(Path::new("node"), &node("inspector.mjs"), &["ok inspector"]);
}

#[test]
fn the_conformance_suite_fails_only_the_expected_scenarios() {
    if skipped() {
        return;
    }
    let old_node = node("old-node.mjs");
    let suite = old_node.with_file_name("node_modules").join("@modelcontextprotocol/conformance/dist/index.js");
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let url = format!("http://{}/mcp", server.address);
    let output = run_successfully(
        Command::new("node")
            .arg("--import")
            .arg(&old_node)
            .arg(suite)
            .args(["server", "--url", &url, "--expected-failures"])
            .arg(scripts().join("conformance.yml"))
            .current_dir(dir.path()),
        "the conformance suite",
    );
    for scenario in ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete"]
    {
        assert!(output.contains(&format!("✓ {scenario}")), "{scenario} did not pass:\n{output}");
    }
    assert!(output.contains("✓ dns-rebinding-protection: 2 passed"), "{output}");
}

/// A fake Anthropic API, stopped when dropped.
struct Anthropic {
    child: Child,
    port: u16,
    /// The file with the requests it received, one per line.
    requests: PathBuf,
}

impl Anthropic {
    fn new(script: &Path, requests: PathBuf) -> Self {
        let mut child =
            Command::new("node").arg(script).arg(&requests).stdout(Stdio::piped()).spawn().expect("node starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().expect("a port"), requests }
    }

    /// The last request with tools; requests without tools are not part of the conversation.
    fn last_request(&self) -> Option<Value> {
        let text = std::fs::read_to_string(&self.requests).unwrap_or_default();
        let mut all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        all.rfind(|request| request["tools"].as_array().is_some_and(|tools| !tools.is_empty()))
    }
}

impl Drop for Anthropic {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn claude_code_connects_gets_context_and_tools_and_stores_an_episode() {
    const SERVERS: &str = "{\n\t\"numStartups\": 3, \"tipsHistory\": {}\n}";
    const SETTINGS: &str = "{\"permissions\":\n  {\"allow\": [ ]}}\n";
    if skipped() {
        return;
    }
    let script = node("anthropic.mjs");
    let claude = script.with_file_name("node_modules").join(".bin/claude");
    let dir = tempfile::tempdir().unwrap();
    let anthropic = Anthropic::new(&script, dir.path().join("requests.jsonl"));
    let server = Serving::on(&dir.path().join("data"));
    server.mcp().call("memory_store_fact", json!({"subject": "shop", "predicate": "language", "content": "it is Go"}));
    let (home, project) = (dir.path().join("home"), dir.path().join("home/shop"));
    let (servers, settings) = (home.join(".claude.json"), home.join(".claude/settings.json"));
    for folder in [&project, &home.join(".claude")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(&servers, SERVERS).unwrap();
    std::fs::write(&settings, SETTINGS).unwrap();
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    let connect = |args: &[&str]| {
        let mut command = butler();
        command.env_remove("CLAUDE_CONFIG_DIR").args(["connect", "claude-code"]).args(args);
        run_successfully(command.arg("--data-dir").arg(&server.data_dir).env("HOME", &home), "butler connect");
    };
    connect(&[]);
    assert!(read(&servers).contains("butler-memory") && read(&settings).contains("hook session-start"));
    connect(&["--undo"]);
    assert_eq!(
        (read(&servers).as_str(), read(&settings).as_str()),
        (SERVERS, SETTINGS),
        "the files are restored exactly"
    );
    connect(&[]);

    let run = |args: &[&str]| {
        let mut command = Command::new(&claude);
        command.args(args).current_dir(&project).stdin(Stdio::null()).env_clear().env("HOME", &home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", anthropic.port));
        command.envs([("ANTHROPIC_API_KEY", "none"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
        // Starting a server takes longer on a busy machine.
        command.envs([("DISABLE_AUTOUPDATER", "1"), ("MCP_TIMEOUT", "120000")]);
        run_successfully(&mut command, "claude")
    };
    let listed = run(&["mcp", "list"]);
    assert!(listed.lines().any(|line| line.starts_with("butler-memory:") && line.ends_with("Connected")), "{listed}");

    // The hook times out after two seconds on a busy machine. In that case, start another session.
    let request = eventually(Duration::from_secs(300), "a session with memory", || {
        assert!(run(&["-p", "Which language is the shop written in?"]).contains("The kettle is on."));
        let episodes = server.mcp().call("memory_stats", json!({}))["episodes"]["total"].as_u64()?;
        anthropic
            .last_request()
            .filter(|request| episodes > 0 && request.to_string().contains("[shop] [language]: it is Go"))
    });
    let tools = request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
    let ours: Vec<&str> = tools.filter(|name| name.starts_with("mcp__butler-memory__")).collect();
    assert_eq!(ours.len(), 26, "{ours:?}");
    let found = server.mcp().call("memory_search", json!({"query": "kettle", "types": ["episode"]}));
    let transcript = "User: Which language is the shop written in?\n\nAssistant: The kettle is on.";
    assert_eq!(found["results"][0]["content"], transcript, "{found}");

    connect(&["--undo"]);
    assert_eq!(read(&settings), SETTINGS, "the files are restored exactly");
    assert!(!read(&servers).contains("butler-memory"), "the entry was not removed: {}", read(&servers));
}
