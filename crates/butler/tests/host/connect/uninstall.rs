//! `butler uninstall` and `butler upgrade`.

use std::process::Output;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::{Home, SERVERS, success};
use crate::program::{Serving, butler, eventually, is_alive, send, stderr, stdout};

impl Home {
    fn uninstall(&self, data: &str, args: &[&str]) -> Output {
        let mut command = butler();
        command.env("BUTLER_CACHE_DIR", self.path("cache")).env("HOME", self.dir.path());
        command.arg("uninstall").arg("--data-dir").arg(self.path(data)).args(args).output().unwrap()
    }
}

const DATA: &str = ".local/share/butler";

#[test]
fn uninstall_disconnects_every_client_and_keeps_the_data_unless_told() {
    let home = Home::new();
    home.write(".claude.json", SERVERS);
    home.write(".local/share/butler/serve.lock", "");
    home.write("cache/embedded-postgres-1/bin/postgres", "");
    home.write("cache/butler-of-another-program", "");
    for client in ["claude-code", "codex", "goose"] {
        success(&home.connect(&[client]));
    }
    let connected = home.text(".codex/config.toml");
    let data = home.path(DATA).display().to_string();
    let shown = success(&home.uninstall(DATA, &["--dry-run", "--data"]));
    for text in ["Claude Code", "Codex", "Goose", "embedded-postgres-1", &data, "nothing was removed"] {
        assert!(shown.contains(text), "no {text} in\n{shown}");
    }
    let unconfirmed = home.uninstall(DATA, &[]);
    assert_eq!(unconfirmed.status.code(), Some(1), "it asks, and there is no terminal");
    assert!(stdout(&unconfirmed).contains("embedded-postgres-1"), "shown before it asks: {}", stdout(&unconfirmed));
    let unconfirmed = home.uninstall(DATA, &["--json"]);
    assert!(
        stdout(&unconfirmed).is_empty() && stderr(&unconfirmed).contains("embedded-postgres-1"),
        "{}",
        stderr(&unconfirmed)
    );
    assert_eq!(home.text(".codex/config.toml"), connected);

    let shown = success(&home.uninstall(DATA, &["--yes"]));
    assert!(shown.contains("to remove the program itself"), "{shown}");
    assert_eq!(home.text(".claude.json"), SERVERS);
    let codex = std::fs::read_to_string(home.path(".codex/config.toml")).unwrap_or_default();
    assert!(!codex.contains("butler") && home.path(DATA).join("serve.lock").exists(), "{codex}");
    assert!(!home.path("cache/embedded-postgres-1").exists() && home.path("cache/butler-of-another-program").exists());

    success(&home.uninstall(DATA, &["--yes", "--data"]));
    assert!(!home.path(DATA).exists());
}

#[test]
fn uninstall_removes_no_directory_but_a_data_directory() {
    let home = Home::new();
    home.write("photos/cat", "");
    // Even a home directory that looks like a data directory.
    home.write("serve.lock", "");
    for (dir, reason) in [("photos", "contains no data of butler"), ("", "home directory"), ("..", "home directory")] {
        let output = home.uninstall(dir, &["--yes", "--data"]);
        assert_eq!(output.status.code(), Some(2), "{dir}");
        assert!(stderr(&output).contains(reason), "{dir}: {}", stderr(&output));
    }
    assert!(home.path("photos/cat").exists());

    // The memory is removed, not only the link to it.
    home.write("disk/memory/tokens-exist", "");
    std::os::unix::fs::symlink(home.path("disk/memory"), home.path("link")).unwrap();
    success(&home.uninstall("link", &["--yes", "--data"]));
    assert!(!home.path("disk/memory").exists() && !home.path("link").is_symlink() && home.path("disk").exists());
}

#[test]
fn uninstall_refuses_while_a_server_is_running() {
    let home = Home::new();
    home.write("cache/embedded-postgres-1/bin/postgres", "");
    home.write(".local/share/butler/serve.lock", "");
    let server = r#"{"pid": 4711, "address": "127.0.0.1:8150", "url": "http://127.0.0.1:8150",
        "started": "2026-01-01T00:00:00Z", "version": "0.1.0"}"#;
    home.write(".local/share/butler/serve.json", server);
    let lock = std::fs::File::open(home.path(".local/share/butler/serve.lock")).unwrap();
    lock.lock().unwrap();
    for args in [&["--yes"][..], &["--yes", "--data"]] {
        let output = home.uninstall(DATA, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains("process 4711 serves the data"), "{args:?}: {}", stderr(&output));
    }
    lock.unlock().unwrap();
    assert!(home.path("cache/embedded-postgres-1").exists(), "nothing was removed so far");
    success(&home.uninstall(DATA, &["--yes", "--data"]));
    assert!(!home.path(DATA).exists());
}

#[test]
fn uninstall_refuses_while_postgresql_runs_without_a_server() {
    let home = Home::new();
    let data = home.path(DATA);
    std::fs::create_dir_all(data.parent().unwrap()).unwrap();
    let server = Serving::on(&data);
    let pid = server.postgres_pid();
    // A server that was killed leaves PostgreSQL running for the next one.
    server.kill();
    for args in [&["--yes"][..], &["--yes", "--data"]] {
        let output = home.uninstall(DATA, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        let expected = [format!("PostgreSQL (process {pid}) serves the data"), format!("kill -INT {pid}")];
        assert!(expected.iter().all(|text| stderr(&output).contains(text)), "{args:?}: {}", stderr(&output));
    }
    assert!(is_alive(pid) && data.join("postgres/PG_VERSION").exists(), "nothing was removed");
    success(&home.uninstall(DATA, &["--dry-run", "--data"]));
    send(pid, Signal::INT);
    eventually(Duration::from_secs(60), "PostgreSQL stops", || (!is_alive(pid)).then_some(()));
    success(&home.uninstall(DATA, &["--yes", "--data"]));
    assert!(!data.exists());
}

#[test]
fn upgrade_says_what_it_cannot_learn() {
    let output = butler().args(["upgrade", "--check", "--json"]).output().unwrap();
    let shown: Value = serde_json::from_str(&success(&output)).unwrap();
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((shown["newest"].is_null(), shown["unknown_because"].is_string()), (true, true), "{shown}");
    assert_eq!(butler().arg("upgrade").output().unwrap().status.code(), Some(2));
}
