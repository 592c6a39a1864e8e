//! `butler run`: sessions with a real program as the LLM, and memory that works, is down, or is slow.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Mcp, Serving, butler, request, stderr, stdout};

/// A butler's folder, with a program that is its LLM.
struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    /// With memory that may take as long as a busy machine does.
    fn new(script: &str) -> Self {
        Self::within(60.0, script)
    }

    fn within(memory_timeout_s: f64, script: &str) -> Self {
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

fn told(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap()
}

#[test]
fn a_session_starts_with_memory_has_its_tools_and_leaves_an_episode() {
    let folder = Folder::new(
        "cat; echo; echo '== config'; cat \"$BUTLER_MCP_CONFIG\"; echo; echo \"== $BUTLER_SESSION_ID $BUTLER_TRIGGER_SOURCE\"",
    );
    std::fs::write(folder.dir.path().join("CLAUDE.md"), "You are the health butler.\n").unwrap();
    let server = folder.serve();
    let mcp = server.mcp();
    mcp.call("memory_store_fact", json!({"subject": "Anna", "predicate": "allergy", "content": "peanuts"}));

    // Without --config the server's own is followed.
    let output = folder.run(&["Plan a dinner for Anna"]);
    let text = stdout(&output);
    let at =
        |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is missing in:\n{text}\n{}", stderr(&output)));
    assert!(at("You are the health butler.") < at("# Memory Context"));
    assert!(at("# Memory Context") < at("- [Anna] [allergy]: peanuts"));
    assert!(at("- [Anna] [allergy]: peanuts") < at("Plan a dinner for Anna"));
    let config: Value = serde_json::from_str(text[at("== config") + 9..].trim().lines().next().unwrap()).unwrap();
    let url = format!("http://{}/butlers/health/mcp", server.address);
    assert_eq!(config["mcpServers"]["butler-memory"]["url"], json!(url), "{config}");
    // What it was given opens the memory of its tenant, and nothing that is of all.
    let bearer = config["mcpServers"]["butler-memory"]["headers"]["Authorization"].as_str().unwrap();
    let own = Mcp { path: "/butlers/health/mcp".to_owned(), ..mcp.with(bearer.strip_prefix("Bearer ").unwrap()) };
    assert_eq!(own.call("memory_stats", json!({}))["facts"]["total"], 1);
    let foreign = own.try_call("memory_stats", json!({"request_context": {"tenant_id": "bob"}})).unwrap_err();
    assert!(foreign["message"].as_str().unwrap().contains("not the tenant"), "{foreign}");
    let ask = |path: &str| request(server.address, "GET", path, &[("Authorization", bearer)], b"").status;
    assert_eq!((ask("/api/tokens"), ask("/api/memory/stats"), ask("/api/memory/stats?tenant=bob")), (403, 200, 403));
    let (session, trigger) = text.trim().rsplit_once("== ").unwrap().1.split_once(' ').unwrap();
    assert_eq!(trigger.trim(), "trigger");

    let found = mcp.call("memory_search", json!({"query": "dinner", "types": ["episode"]}));
    let episode = &found["results"][0];
    assert_eq!((&episode["session_id"], &episode["butler"]), (&json!(session), &json!("health")));
    let content = episode["content"].as_str().unwrap();
    assert!(content.starts_with("User: Plan a dinner for Anna\n\nAssistant: You are the health butler."), "{content}");
    assert_eq!(std::fs::read_dir(folder.data_dir().join("sessions")).unwrap().count(), 0, "its configuration is gone");

    // Memory's own work is never remembered.
    let own = told(&folder.run(&["Consolidate", "--trigger-source", "schedule:consolidation", "--json"]));
    assert_eq!(own["episode_id"], Value::Null);
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn a_session_without_a_server_starts_its_own_memory() {
    let folder = Folder::new("cat \"$BUTLER_MCP_CONFIG\"");
    let config = folder.config();
    let output = folder.run(&["Remember the milk", "--json", "--tenant", "ann", "--config", config.to_str().unwrap()]);
    let told = told(&output);
    assert!(told["episode_id"].is_string(), "{told} {}", stderr(&output));
    let written: Value = serde_json::from_str(told["answer"].as_str().unwrap()).unwrap();
    let entry = &written["mcpServers"]["butler-memory"];
    let arguments: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((entry["type"].as_str(), arguments[0]), (Some("stdio"), "mcp"), "{entry}");
    assert!(arguments.ends_with(&["--butler", "health", "--tenant", "ann"]), "{arguments:?}");
    assert_eq!(crate::program::postgres_pid(&folder.data_dir()), None, "it was stopped again");
}

#[test]
fn a_session_goes_on_when_its_database_is_down_from_the_start() {
    let folder = Folder::new("echo 'the answer'");
    let config = folder.config();
    let output = folder.run(&[
        "hello",
        "--config",
        config.to_str().unwrap(),
        "--database-url",
        "postgres://nobody@127.0.0.1:1/nothing",
    ]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "the answer\n"), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("the session starts without memory"), "{said}");
    assert!(said.contains("the session is not remembered"), "{said}");
}

#[test]
fn a_session_goes_on_when_the_database_or_the_server_dies_while_it_runs() {
    // The program itself kills what its prompt names.
    let folder = Folder::new("kill -9 $(tail -n 1); echo answered");
    let server = folder.serve();
    let database = server.postgres_pid().to_string();
    let output = folder.run(&[&format!("x\n{database}"), "--json"]);
    let first = told(&output);
    assert_eq!(first["answer"], "answered\n", "{}", stderr(&output));
    server.is_ready_soon();
    let output = folder.run(&[&format!("x\n{}", server.pid())]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "answered\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("the session is not remembered"), "{}", stderr(&output));
}

#[test]
fn memory_slower_than_its_cut_off_is_done_without() {
    let folder = Folder::within(1.5, "echo 'the answer'");
    let server = folder.serve();
    server.signal(Signal::STOP);
    let begun = Instant::now();
    let output = folder.run(&["hello", "--config", folder.config().to_str().unwrap()]);
    let took = begun.elapsed();
    server.signal(Signal::CONT);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "the answer\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("memory did not respond within 1.5 s"), "{}", stderr(&output));
    assert!(took >= Duration::from_secs(3) && took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn without_an_llm_the_error_says_how_to_name_one() {
    let dir = tempfile::tempdir().unwrap();
    let output = butler().args(["run", "hello", "--data-dir"]).arg(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("has no LLM") && said.contains("[butler.runtime]"), "{said}");
    assert!(stdout(&output).is_empty());
}

#[test]
fn a_program_that_fails_is_an_error_and_leaves_no_episode() {
    let folder = Folder::new("echo 'no credit left' >&2; exit 3");
    let server = folder.serve();
    let output = folder.run(&["hello"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no credit left"), "{}", stderr(&output));
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 0);
}
