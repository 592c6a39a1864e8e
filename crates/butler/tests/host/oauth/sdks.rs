//! The official SDKs' own OAuth clients log in and store a fact.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Login, header};
use crate::clients::{node, python, scripts, skipped};

/// Runs a client. It prints the address that it would open in a browser, and reads the one that it was sent back to.
fn log_in(program: &Path, script: &Path, name: &str) {
    let dir = tempfile::tempdir().unwrap();
    let on = Login::start(dir.path());
    let cookie = on.sign_in(&["--tenant", "ann"]);
    let mut child = Command::new(program)
        .arg(script)
        .arg(format!("{}/mcp", on.url))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.next().expect("the client asks for a browser");
    let path = address.strip_prefix(&on.url).unwrap_or_else(|| panic!("{address}"));
    let answer = on.allow(path, &cookie);
    let back = header(&answer, "location").unwrap_or_else(|| panic!("{}", answer.text()));
    writeln!(child.stdin.take().unwrap(), "{back}").unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success(), "{rest:?}\n{}", on.server.log());
    assert_eq!(rest, [format!("ok {name}")]);
    let grants = on.butler(&["grants", "list"]);
    assert_eq!((&grants["grants"][0]["state"], &grants["grants"][0]["tenant"]), (&json!("active"), &json!("ann")));
    let facts = on.server.get_with("/api/memory/facts?tenant=ann", &on.server.secret()).json();
    assert_eq!(facts["data"][0]["content"], format!("logged in with {name}"), "{facts}");
}

#[test]
fn the_python_sdk_logs_in_by_oauth_and_stores_a_fact() {
    if !skipped() {
        log_in(&python(), &scripts().join("login.py"), "mcp");
    }
}

#[test]
fn the_typescript_sdk_logs_in_by_oauth_and_stores_a_fact() {
    if !skipped() {
        log_in(Path::new("node"), &node("login.mjs"), "sdk");
    }
}
