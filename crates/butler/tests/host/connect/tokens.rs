//! Tokens in the files of clients are private, and gone after `--undo`.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::formats::NEW_CLIENTS;
use super::{Home, SERVERS, success};
use crate::program::stderr;

/// Arguments that connect over HTTP with a token.
fn with_token<'a>(client: &'a str, token: &'a str) -> [&'a str; 6] {
    [client, "--no-hooks", "--http", "http://127.0.0.1:8150/mcp", "--token", token]
}

#[test]
fn a_token_is_readable_by_its_owner_only_and_gone_after_undo() {
    let home = Home::new();
    home.write(".claude.json", SERVERS);
    home.set_mode(".claude.json", 0o644);
    let shown = success(&home.connect(&with_token("claude-code", "first-t0ken")));
    assert!(shown.contains("Bearer ***") && !shown.contains("t0ken"), "{shown}");
    assert_eq!(home.mode(".claude.json"), 0o600);
    // A second token: the backup has the first one no longer.
    success(&home.connect(&with_token("claude-code", "second-t0ken")));
    assert_eq!(home.files_with("first-t0ken"), Vec::<PathBuf>::new());
    assert_eq!(home.files_with("second-t0ken"), [home.path(".claude.json")]);
    for file in std::fs::read_dir(home.dir.path()).unwrap().map(|entry| entry.unwrap()) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", file.path());
    }
    // A file that became readable is corrected although its content is right.
    home.set_mode(".claude.json", 0o664);
    let shown = success(&home.connect(&with_token("claude-code", "second-t0ken")));
    assert!(shown.contains("other users can no longer read"), "{shown}");
    assert_eq!(home.mode(".claude.json"), 0o600);
    // Stricter permissions are kept.
    home.set_mode(".claude.json", 0o400);
    success(&home.connect(&with_token("claude-code", "third-t0ken")));
    assert_eq!(home.mode(".claude.json"), 0o400);

    // A backup of an older version still has the token.
    home.write(".claude.json.20260101T000000000Z.bak", &home.text(".claude.json"));
    // This one was not made by butler.
    home.write(".claude.json.mine.bak", &home.text(".claude.json"));
    let undone = home.connect(&["claude-code", "--undo"]);
    assert!(
        !success(&undone).contains("t0ken") && stderr(&undone).contains("butler token revoke"),
        "{}",
        stderr(&undone)
    );
    assert_eq!(home.files_with("t0ken"), [home.path(".claude.json.mine.bak")]);
    assert_eq!(home.text(".claude.json"), SERVERS);
}

#[test]
fn a_new_file_with_a_token_is_private_for_every_client() {
    for (client, file) in [("cursor", ".cursor/mcp.json"), ("vscode", ".config/Code/User/mcp.json")] {
        let home = Home::new();
        success(&home.connect(&with_token(client, "t0ken")));
        assert_eq!(home.mode(file), 0o600, "{client}");
        success(&home.connect(&[client, "--undo"]));
        assert_eq!(home.files_with("t0ken"), Vec::<PathBuf>::new(), "{client}");
    }
}

#[test]
fn a_project_gets_a_reference_to_a_variable_instead_of_a_token() {
    for (client, file, key, reference) in [
        ("claude-code", ".mcp.json", "mcpServers", "Bearer ${MY_TOKEN}"),
        ("cursor", ".cursor/mcp.json", "mcpServers", "Bearer ${env:MY_TOKEN}"),
        ("vscode", ".vscode/mcp.json", "servers", "Bearer ${env:MY_TOKEN}"),
    ] {
        let home = Home::new();
        let project = |flags: &[&str]| {
            let args = [client, "--no-hooks", "--scope", "project", "--http", "http://127.0.0.1:8150/mcp"];
            home.connect(&[&args[..], flags].concat())
        };
        let refused = project(&["--token", "t0ken"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("--token-env BUTLER_TOKEN"), "{}", stderr(&refused));
        assert!(!home.path(file).exists(), "{client}: nothing was written");
        success(&project(&["--token-env", "MY_TOKEN"]));
        assert_eq!(home.json(file)[key]["butler-memory"]["headers"]["Authorization"], reference);
        assert_eq!(project(&["--token-env", "not a name"]).status.code(), Some(2));
        success(&home.connect(&[client, "--undo", "--scope", "project"]));
        assert_eq!(home.files_with("MY_TOKEN"), Vec::<PathBuf>::new(), "{client}: the file was new");
    }
}

#[test]
fn a_token_stays_private_in_every_format() {
    for (client, file, before, _) in NEW_CLIENTS {
        let home = Home::new();
        home.write(file, before);
        let shown = success(&home.connect(&with_token(client, "first-t0ken")));
        assert!(!shown.contains("t0ken"), "{client}: {shown}");
        assert_eq!(home.mode(file), 0o600, "{client}");
        success(&home.connect(&with_token(client, "second-t0ken")));
        assert_eq!(home.files_with("first-t0ken"), Vec::<PathBuf>::new(), "{client}");
        assert_eq!(home.files_with("second-t0ken"), [home.path(file)], "{client}");
        success(&home.connect(&[client, "--undo"]));
        assert_eq!(home.files_with("t0ken"), Vec::<PathBuf>::new(), "{client}");
        assert_eq!(home.text(file), before, "{client}");
    }
}
