//! `butler run`: sessions with a real program as the LLM, and memory that works, is down or is slow.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{MCP_HEADERS, Mcp, Serving, butler, request, stderr, stdout};

/// A butler's directory, with a shell script as its LLM.
struct ButlerDir {
    dir: tempfile::TempDir,
}

impl ButlerDir {
    /// Uses a memory timeout that is long enough for a busy machine.
    fn new(script: &str) -> Self {
        Self::with_timeout(60.0, script)
    }

    fn with_timeout(memory_timeout_s: f64, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("llm.sh");
        std::fs::write(&program, script).unwrap();
        let config = format!(
            "[butler]\nname = \"health\"\n[butler.runtime]\ntype = \"command\"\ncommand = [\"sh\", {:?}]\n\
             [butler.session]\nmemory_timeout_s = {memory_timeout_s:?}\n",
            program.display().to_string()
        );
        std::fs::write(dir.path().join("butler.toml"), config).unwrap();
        Self { dir }
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("butler.toml")
    }

    fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn serve(&self) -> Serving {
        Serving::with(&self.data_dir(), &[OsStr::new("--config"), self.config().as_os_str()])
    }

    fn run(&self, args: &[&str]) -> Output {
        butler().arg("run").args(args).arg("--data-dir").arg(self.data_dir()).output().unwrap()
    }
}

fn json_of(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

#[test]
fn a_session_gets_context_and_tools_and_stores_an_episode() {
    let butler_dir = ButlerDir::new(
        "cat; echo; echo '== config'; cat \"$BUTLER_MCP_CONFIG\"; echo; echo \"== $BUTLER_SESSION_ID $BUTLER_TRIGGER_SOURCE\"",
    );
    std::fs::write(butler_dir.dir.path().join("CLAUDE.md"), "You are the health butler.\n").unwrap();
    let server = butler_dir.serve();
    let mcp = server.mcp();
    mcp.call("memory_store_fact", json!({"subject": "Anna", "predicate": "allergy", "content": "peanuts"}));

    // Without --config the command uses the server's configuration.
    let output = butler_dir.run(&["Plan a dinner for Anna"]);
    let text = stdout(&output);
    let at =
        |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing in:\n{text}\n{}", stderr(&output)));
    assert!(at("You are the health butler.") < at("# Memory Context"));
    assert!(at("# Memory Context") < at("- [Anna] [allergy]: peanuts"));
    assert!(at("- [Anna] [allergy]: peanuts") < at("Plan a dinner for Anna"));
    let config: Value = serde_json::from_str(text[at("== config") + 9..].trim().lines().next().unwrap()).unwrap();
    let url = format!("http://{}/butlers/health/mcp", server.address);
    assert_eq!(config["mcpServers"]["butler-memory"]["url"], json!(url), "{config}");
    // The session's bearer token gives access to its tenant's memory only.
    let bearer = config["mcpServers"]["butler-memory"]["headers"]["Authorization"].as_str().unwrap();
    let own = Mcp { path: "/butlers/health/mcp".to_owned(), ..mcp.with(bearer.strip_prefix("Bearer ").unwrap()) };
    assert_eq!(own.call("memory_stats", json!({}))["facts"]["total"], 1);
    let foreign = own.try_call("memory_stats", json!({"request_context": {"tenant_id": "bob"}})).unwrap_err();
    assert!(foreign["message"].as_str().unwrap().contains("not the tenant"), "{foreign}");
    let ask = |path: &str| request(server.address, "GET", path, &[("Authorization", bearer)], b"").status;
    assert_eq!((ask("/api/tokens"), ask("/api/memory/stats"), ask("/api/memory/stats?tenant=bob")), (403, 200, 403));
    let (session, trigger) = text.trim().rsplit_once("== ").unwrap().1.split_once(' ').unwrap();
    // What its program recalls through the MCP server of its configuration belongs to the session, too.
    let named = &config["mcpServers"]["butler-memory"]["headers"]["x-butler-session"];
    assert_eq!(named, &json!(session));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"name": "memory_recall", "arguments": {"topic": "peanuts"}}});
    let headers = [&MCP_HEADERS[..], &[("Authorization", bearer), ("x-butler-session", session)]].concat();
    let answer = request(server.address, "POST", "/butlers/health/mcp", &headers, call.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    // The next call of the tenant waits until the recall is recorded.
    own.call("memory_stats", json!({}));
    let why = butler().args(["why", session, "--json", "--data-dir"]).arg(butler_dir.data_dir()).output().unwrap();
    let why = json_of(&why);
    let kinds: Vec<&Value> = why["injections"].as_array().unwrap().iter().map(|call| &call["kind"]).collect();
    assert_eq!(kinds, [&json!("recall"), &json!("context")], "{why}");
    assert_eq!(trigger.trim(), "trigger");

    let found = mcp.call("memory_search", json!({"query": "dinner", "types": ["episode"]}));
    let episode = &found["results"][0];
    assert_eq!((&episode["session_id"], &episode["butler"]), (&json!(session), &json!("health")));
    let content = episode["content"].as_str().unwrap();
    assert!(content.starts_with("User: Plan a dinner for Anna\n\nAssistant: You are the health butler."), "{content}");
    assert_eq!(
        std::fs::read_dir(butler_dir.data_dir().join("sessions")).unwrap().count(),
        0,
        "its configuration is removed"
    );

    // Consolidation sessions are not stored.
    let consolidation =
        json_of(&butler_dir.run(&["Consolidate", "--trigger-source", "schedule:consolidation", "--json"]));
    assert_eq!(consolidation["episode_id"], Value::Null);
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn a_session_without_a_server_starts_its_own_memory() {
    let butler_dir = ButlerDir::new("cat \"$BUTLER_MCP_CONFIG\"");
    let config = butler_dir.config();
    let output =
        butler_dir.run(&["Remember the milk", "--json", "--tenant", "ann", "--config", config.to_str().unwrap()]);
    let result = json_of(&output);
    assert!(result["episode_id"].is_string(), "{result} {}", stderr(&output));
    let written: Value = serde_json::from_str(result["answer"].as_str().unwrap()).unwrap();
    let entry = &written["mcpServers"]["butler-memory"];
    let arguments: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((entry["type"].as_str(), arguments[0]), (Some("stdio"), "mcp"), "{entry}");
    assert!(arguments.ends_with(&["--butler", "health", "--tenant", "ann"]), "{arguments:?}");
    assert_eq!(crate::program::postgres_pid(&butler_dir.data_dir()), None, "the private PostgreSQL was stopped");
}

#[test]
fn a_session_continues_when_its_database_is_down_from_the_start() {
    let butler_dir = ButlerDir::new("echo 'the answer'");
    let config = butler_dir.config();
    let output = butler_dir.run(&[
        "hello",
        "--config",
        config.to_str().unwrap(),
        "--database-url",
        "postgres://nobody@127.0.0.1:1/nothing",
    ]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "the answer\n"), "{}", stderr(&output));
    let error = stderr(&output);
    assert!(error.contains("the session starts without memory"), "{error}");
    assert!(error.contains("the session is not remembered"), "{error}");
}

#[test]
fn a_session_continues_when_the_database_or_the_server_dies_while_it_runs() {
    // The script kills the process whose id is in its prompt.
    let butler_dir = ButlerDir::new("kill -9 $(tail -n 1); echo answered");
    let server = butler_dir.serve();
    let database = server.postgres_pid().to_string();
    let output = butler_dir.run(&[&format!("x\n{database}"), "--json"]);
    let first = json_of(&output);
    assert_eq!(first["answer"], "answered\n", "{}", stderr(&output));
    server.is_ready_soon();
    let output = butler_dir.run(&[&format!("x\n{}", server.pid())]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "answered\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("the session is not remembered"), "{}", stderr(&output));
}

#[test]
fn a_session_continues_without_memory_that_exceeds_its_timeout() {
    let butler_dir = ButlerDir::with_timeout(1.5, "echo 'the answer'");
    let server = butler_dir.serve();
    server.signal(Signal::STOP);
    let started = Instant::now();
    let output = butler_dir.run(&["hello", "--config", butler_dir.config().to_str().unwrap()]);
    let took = started.elapsed();
    server.signal(Signal::CONT);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "the answer\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("memory did not respond within 1.5 s"), "{}", stderr(&output));
    assert!(took >= Duration::from_secs(3) && took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn without_an_llm_the_error_says_how_to_configure_one() {
    let dir = tempfile::tempdir().unwrap();
    let output = butler().args(["run", "hello", "--data-dir"]).arg(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = stderr(&output);
    assert!(error.contains("has no LLM") && error.contains("[butler.runtime]"), "{error}");
    assert!(stdout(&output).is_empty());
}

#[test]
fn a_failed_program_is_an_error_and_stores_no_episode() {
    let butler_dir = ButlerDir::new("echo 'no credit left' >&2; exit 3");
    let server = butler_dir.serve();
    let output = butler_dir.run(&["hello"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no credit left"), "{}", stderr(&output));
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 0);
}
