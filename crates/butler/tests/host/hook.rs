//! `butler hook`, with the JSON that Claude Code sends.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Serving, butler, eventually, stderr, stdout};

/// Runs a hook with a timeout that is long enough for a busy machine.
fn hook(data_dir: &Path, event: &str, input: &str, variables: &[(&str, &str)]) -> Output {
    hook_within("60", data_dir, event, input, variables)
}

fn hook_within(seconds: &str, data_dir: &Path, event: &str, input: &str, variables: &[(&str, &str)]) -> Output {
    let mut child = butler()
        .args(["hook", event, "--timeout", seconds, "--data-dir"])
        .arg(data_dir)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn response(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| panic!("{:?} {}", stdout(output), stderr(output)))
}

/// The files of sessions that wait for delivery.
fn spooled(data_dir: &Path) -> Vec<PathBuf> {
    let Ok(files) = std::fs::read_dir(data_dir.join("spool")) else { return Vec::new() };
    files.map(|file| file.unwrap().path()).collect()
}

const SESSION: &str = "0b8a2f3e-6a55-4c39-9a0e-3f1d2c4b5a69";

fn message(kind: &str, id: &str, text: &str) -> String {
    json!({"type": kind, "uuid": id, "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
        .to_string()
        + "\n"
}

fn event(name: &str, transcript: &Path) -> String {
    json!({"session_id": SESSION, "transcript_path": transcript, "cwd": "/home/ann/shop", "hook_event_name": name,
           "source": "startup", "reason": "prompt_input_exit"})
    .to_string()
}

#[test]
fn a_claude_code_session_gets_context_and_stores_one_episode() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mcp = server.mcp();
    mcp.call("memory_store_fact", json!({"subject": "shop", "predicate": "language", "content": "written in Go"}));
    let transcript = dir.path().join("transcript.jsonl");

    let start = response(&hook(&server.data_dir, "session-start", &event("SessionStart", &transcript), &[]));
    let output = &start["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "SessionStart");
    assert!(output["additionalContext"].as_str().unwrap().contains("- [shop] [language]: written in Go"), "{start}");
    let prompt = json!({"prompt": "Which language is the shop written in?", "hook_event_name": "UserPromptSubmit"});
    let prompt = response(&hook(&server.data_dir, "user-prompt", &prompt.to_string(), &[]));
    assert!(prompt["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("written in Go"), "{prompt}");
    let other = json!({"prompt": "Add a cart", "hook_event_name": "UserPromptSubmit"});
    let other = response(&hook(&server.data_dir, "user-prompt", &other.to_string(), &[]));
    let context = other["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("written in Go"), "a prompt has no relevance floor: {context}");

    let why = butler().args(["why", SESSION, "--json", "--data-dir"]).arg(&server.data_dir).output().unwrap();
    let why = response(&why);
    let call = &why["injections"][0];
    assert_eq!((&why["total"], &call["kind"]), (&json!(1), &json!("context")), "the prompt's hook named no session");
    assert_eq!(call["request_id"], "hook session-start");
    assert!(call["memories"][0]["label"].as_str().unwrap().contains("written in Go"), "{why}");

    std::fs::write(
        &transcript,
        message("user", "u1", "Add a cart") + &message("assistant", "a1", "The cart is there."),
    )
    .unwrap();
    let end = event("SessionEnd", &transcript);
    for _ in 0..2 {
        assert_eq!(response(&hook(&server.data_dir, "session-end", &end, &[])), json!({}));
    }
    let episodes = |query: &str| {
        mcp.call("memory_search", json!({"query": query, "types": ["episode"], "mode": "keyword"}))["results"].clone()
    };
    let first = episodes("cart");
    assert_eq!(first.as_array().unwrap().len(), 1, "{first}");
    assert_eq!(first[0]["content"], "User: Add a cart\n\nAssistant: The cart is there.");
    assert_eq!(first[0]["session_id"], SESSION);

    // A resumed session stores only its new messages.
    let more = std::fs::read_to_string(&transcript).unwrap() + &message("user", "u2", "Now the checkout");
    std::fs::write(&transcript, more).unwrap();
    assert_eq!(response(&hook(&server.data_dir, "session-end", &end, &[])), json!({}));
    let second = episodes("checkout");
    assert_eq!(second[0]["content"], "User: Now the checkout");
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 2);

    // Consolidation sessions are not stored.
    std::fs::write(&transcript, message("user", "u9", "Consolidate these episodes")).unwrap();
    let consolidation = [("BUTLER_TRIGGER_SOURCE", "schedule:consolidation")];
    assert_eq!(response(&hook(&server.data_dir, "session-end", &end, &consolidation)), json!({}));
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 2);
}

#[test]
fn hooks_succeed_even_if_memory_is_unavailable() {
    let dir = tempfile::tempdir().unwrap();
    let missing_dir = dir.path().join("never-set-up");
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "hello")).unwrap();
    for name in ["session-start", "session-end"] {
        for input in [event("SessionStart", &transcript).as_str(), "", "{not json", "[]"] {
            let output = hook(&missing_dir, name, input, &[]);
            assert_eq!(response(&output), json!({}), "{name} {input}");
            assert!(
                stderr(&output).contains("butler: this session continues without memory"),
                "{name} {input}: {}",
                stderr(&output)
            );
        }
    }
    // The hook does not wait longer than its timeout for a server that does not respond.
    let server = Serving::on(&dir.path().join("data"));
    server.signal(Signal::STOP);
    let started = Instant::now();
    let output = hook_within("2", &server.data_dir, "session-start", &event("SessionStart", &transcript), &[]);
    server.signal(Signal::CONT);
    assert_eq!(response(&output), json!({}));
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(stderr(&output).contains("did not respond within 2 s"), "{}", stderr(&output));
}

#[test]
fn without_a_server_session_end_stores_the_episode_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    drop(Serving::on(&data_dir));
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "Remember the milk")).unwrap();
    assert_eq!(response(&hook(&data_dir, "session-end", &event("SessionEnd", &transcript), &[])), json!({}));
    eventually(Duration::from_secs(60), "the episode is stored", || spooled(&data_dir).is_empty().then_some(()));
    let server = Serving::on(&data_dir);
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn session_end_without_a_transcript_reports_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    for (input, expected) in [("", "stdin is empty"), (" \n", "stdin is empty"), ("{}", "has no transcript_path")] {
        let output = hook(dir.path(), "session-end", input, &[]);
        assert_eq!(response(&output), json!({}));
        let error = stderr(&output);
        assert!(error.contains(expected) && error.contains("butler connect claude-code"), "{input:?}: {error}");
        assert!(!dir.path().join("postgres").exists(), "no database is started");
    }
}

#[test]
fn sessions_that_end_beside_a_frozen_server_are_stored_once_when_it_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    server.signal(Signal::STOP);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (dir, data_dir) = (dir.path(), &server.data_dir);
            scope.spawn(move || {
                let transcript = dir.join(format!("{number}.jsonl"));
                std::fs::write(&transcript, message("user", &format!("u{number}"), &format!("Task {number}"))).unwrap();
                let input = json!({"session_id": format!("s{number}"), "transcript_path": transcript}).to_string();
                let output = hook_within("2", data_dir, "session-end", &input, &[]);
                assert_eq!(response(&output), json!({}));
                let error = stderr(&output);
                assert!(error.contains("did not respond within 2 s; the session is kept"), "{error}");
                // The same session again: it is in the spool already.
                assert_eq!(stderr(&hook_within("2", data_dir, "session-end", &input, &[])), "");
            });
        }
    });
    // One after the other they would take twelve seconds.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(spooled(&server.data_dir).len(), 6);
    server.signal(Signal::CONT);
    eventually(Duration::from_secs(60), "the spool is delivered", || {
        spooled(&server.data_dir).is_empty().then_some(())
    });
    // The frozen server also answered the six calls when it resumed.
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 6);
}

#[test]
fn a_session_that_ends_before_memory_is_set_up_is_stored_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "Remember the milk")).unwrap();
    // Nothing was ever set up here, so there is nothing to start in the background.
    let output = hook(&data_dir, "session-end", &event("SessionEnd", &transcript), &[]);
    assert_eq!(response(&output), json!({}));
    assert!(
        stderr(&output).contains("the session is kept, and the next butler process stores it"),
        "{}",
        stderr(&output)
    );
    assert_eq!(spooled(&data_dir).len(), 1);
    let stats = butler().args(["stats", "--json", "--data-dir"]).arg(&data_dir).output().unwrap();
    assert!(stats.status.success(), "{}", stderr(&stats));
    assert!(spooled(&data_dir).is_empty(), "the command delivered the spool");
    let server = Serving::on(&data_dir);
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn nothing_that_never_ends_holds_up_a_hook() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let pipe = dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let output = hook_within("2", &server.data_dir, "session-end", &event("SessionEnd", &pipe), &[]);
    assert_eq!(response(&output), json!({}));
    assert!(stderr(&output).contains("it is not a regular file"), "{}", stderr(&output));
    let output = hook_within("2", &server.data_dir, "session-start", &event("SessionStart", &pipe), &[]);
    assert_eq!(response(&output)["hookSpecificOutput"]["hookEventName"], "SessionStart");

    // The agent keeps its end of stdin open: complete input is enough, and without input the deadline applies.
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "Add a cart")).unwrap();
    for (input, expected) in
        [(event("SessionEnd", &transcript), ""), (String::new(), "stdin did not respond within 2 s")]
    {
        let mut child = butler()
            .args(["hook", "session-end", "--timeout", "2", "--data-dir"])
            .arg(&server.data_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(response(&output), json!({}));
        let error = stderr(&output);
        assert!(error.contains(expected) && error.is_empty() == expected.is_empty(), "{error}");
    }
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn a_session_that_can_neither_be_delivered_nor_kept_is_reported_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    std::fs::create_dir_all(&data_dir).unwrap();
    // Stands in for a full disk, which also refuses a new directory.
    std::fs::write(data_dir.join("spool"), "").unwrap();
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "hello")).unwrap();
    let output = hook(&data_dir, "session-end", &event("SessionEnd", &transcript), &[]);
    assert_eq!(response(&output), json!({}));
    let error = stderr(&output);
    assert!(error.contains("the session is lost, because Butler cannot write to the spool"), "{error}");
}
