//! Real MCP clients, each over HTTP and over stdio.
//!
//! They are installed once into the target directory, at pinned versions. On a machine without pip or npm set
//! `BUTLER_TEST_SKIP_CLIENTS=1`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::Serving;

const SKIP: &str = "BUTLER_TEST_SKIP_CLIENTS";

fn skipped() -> bool {
    std::env::var_os(SKIP).is_some_and(|value| !value.is_empty())
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// `<target>/clients/<kind>`, installed if what is to be installed changed; one test at a time.
fn installed(kind: &str, list: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_butler")).ancestors().nth(2).unwrap();
    let dir = target.join("clients").join(kind);
    std::fs::create_dir_all(&dir).unwrap();
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let wanted = std::fs::read_to_string(scripts().join(list)).unwrap();
    let marker = dir.join("installed");
    if std::fs::read_to_string(&marker).ok().as_deref() != Some(&wanted) {
        install(&dir);
        std::fs::write(&marker, wanted).unwrap();
    }
    dir
}

#[track_caller]
fn must(command: &mut Command, what: &str) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{what} is needed to test with real MCP clients ({error}); install it, or set {SKIP}=1")
    });
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{what} failed:\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn python() -> PathBuf {
    let dir = installed("python", "requirements.txt", |dir| {
        let venv = dir.join("venv");
        must(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv), "python3 with venv");
        let requirements = scripts().join("requirements.txt");
        must(Command::new(venv.join("bin/pip")).args(["install", "--quiet", "-r"]).arg(requirements), "pip");
    });
    dir.join("venv/bin/python")
}

/// A script beside its node_modules, where node looks for them.
fn node(script: &str) -> PathBuf {
    let dir = installed("node", "package.json", |dir| {
        std::fs::copy(scripts().join("package.json"), dir.join("package.json")).unwrap();
        must(Command::new("npm").args(["install", "--no-audit", "--no-fund", "--silent"]).current_dir(dir), "npm");
    });
    let copy = dir.join(script);
    std::fs::copy(scripts().join(script), &copy).unwrap();
    copy
}

/// Over HTTP against the running server, and over stdio beside it.
fn converse(program: &Path, script: &Path, expected: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let url = format!("http://{}/mcp", server.address);
    let http = must(Command::new(program).arg(script).args(["http", &url]), "the client over HTTP");
    let stdio = must(
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
fn the_conformance_suite_fails_where_it_is_expected_to_and_nowhere_else() {
    if skipped() {
        return;
    }
    let old_node = node("old-node.mjs");
    let suite = old_node.with_file_name("node_modules").join("@modelcontextprotocol/conformance/dist/index.js");
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let url = format!("http://{}/mcp", server.address);
    let told = must(
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
        assert!(told.contains(&format!("✓ {scenario}")), "{scenario} did not pass:\n{told}");
    }
    assert!(told.contains("✓ dns-rebinding-protection: 2 passed"), "{told}");
}
