//! The hooks, with the JSON Claude Code sends.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Serving, butler, eventually, stderr, stdout};

/// With memory that may take as long as a busy machine does.
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

fn said(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_str(&stdout(output)).unwrap_or_else(|_| panic!("{:?} {}", stdout(output), stderr(output)))
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
fn a_session_of_claude_code_begins_with_memory_and_leaves_an_episode_once() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mcp = server.mcp();
    mcp.call("memory_store_fact", json!({"subject": "shop", "predicate": "language", "content": "written in Go"}));
    let transcript = dir.path().join("transcript.jsonl");

    let start = said(&hook(&server.data_dir, "session-start", &event("SessionStart", &transcript), &[]));
    let told = &start["hookSpecificOutput"];
    assert_eq!(told["hookEventName"], "SessionStart");
    assert!(told["additionalContext"].as_str().unwrap().contains("- [shop] [language]: written in Go"), "{start}");
    let prompt = json!({"prompt": "Which language is the shop written in?", "hook_event_name": "UserPromptSubmit"});
    let prompt = said(&hook(&server.data_dir, "user-prompt", &prompt.to_string(), &[]));
    assert!(prompt["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("written in Go"), "{prompt}");

    std::fs::write(
        &transcript,
        message("user", "u1", "Add a cart") + &message("assistant", "a1", "The cart is there."),
    )
    .unwrap();
    let end = event("SessionEnd", &transcript);
    for _ in 0..2 {
        assert_eq!(said(&hook(&server.data_dir, "session-end", &end, &[])), json!({}));
    }
    let episodes = |query: &str| {
        mcp.call("memory_search", json!({"query": query, "types": ["episode"], "mode": "keyword"}))["results"].clone()
    };
    let first = episodes("cart");
    assert_eq!(first.as_array().unwrap().len(), 1, "{first}");
    assert_eq!(first[0]["content"], "User: Add a cart\n\nAssistant: The cart is there.");
    assert_eq!(first[0]["session_id"], SESSION);

    // Resumed, it tells only what is new.
    let more = std::fs::read_to_string(&transcript).unwrap() + &message("user", "u2", "Now the checkout");
    std::fs::write(&transcript, more).unwrap();
    assert_eq!(said(&hook(&server.data_dir, "session-end", &end, &[])), json!({}));
    let second = episodes("checkout");
    assert_eq!(second[0]["content"], "User: Now the checkout");
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 2);

    // Memory's own sessions are not remembered.
    std::fs::write(&transcript, message("user", "u9", "Consolidate these episodes")).unwrap();
    let own = [("BUTLER_TRIGGER_SOURCE", "schedule:consolidation")];
    assert_eq!(said(&hook(&server.data_dir, "session-end", &end, &own)), json!({}));
    assert_eq!(mcp.call("memory_stats", json!({}))["episodes"]["total"], 2);
}

#[test]
fn hooks_end_well_whatever_state_memory_is_in() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = dir.path().join("never-set-up");
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "hello")).unwrap();
    for name in ["session-start", "session-end"] {
        for input in [event("SessionStart", &transcript).as_str(), "", "{not json", "[]"] {
            let output = hook(&nowhere, name, input, &[]);
            assert_eq!(said(&output), json!({}), "{name} {input}");
            assert!(
                stderr(&output).contains("butler: this session goes on without memory"),
                "{name} {input}: {}",
                stderr(&output)
            );
        }
    }
    // A server that does not answer is waited for no longer than agreed.
    let server = Serving::on(&dir.path().join("data"));
    server.signal(Signal::STOP);
    let begun = Instant::now();
    let output = hook_within("2", &server.data_dir, "session-start", &event("SessionStart", &transcript), &[]);
    server.signal(Signal::CONT);
    assert_eq!(said(&output), json!({}));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert!(stderr(&output).contains("no answer within 2 s"), "{}", stderr(&output));
}

#[test]
fn without_a_server_the_end_of_a_session_is_remembered_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    drop(Serving::on(&data_dir));
    let transcript = dir.path().join("transcript.jsonl");
    std::fs::write(&transcript, message("user", "u1", "Remember the milk")).unwrap();
    assert_eq!(said(&hook(&data_dir, "session-end", &event("SessionEnd", &transcript), &[])), json!({}));
    eventually(Duration::from_secs(60), "told", || {
        std::fs::read_to_string(data_dir.join("hook-sessions.json")).ok().filter(|known| known.contains("u1"))
    });
    let server = Serving::on(&data_dir);
    assert_eq!(server.mcp().call("memory_stats", json!({}))["episodes"]["total"], 1);
}

#[test]
fn a_session_end_without_a_transcript_says_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    for (input, complaint) in
        [("", "nothing came on stdin"), (" \n", "nothing came on stdin"), ("{}", "names no transcript_path")]
    {
        let output = hook(dir.path(), "session-end", input, &[]);
        assert_eq!(said(&output), json!({}));
        let told = stderr(&output);
        assert!(told.contains(complaint) && told.contains("butler connect claude-code"), "{input:?}: {told}");
        assert!(!dir.path().join("postgres").exists(), "nothing is started for it");
    }
}
