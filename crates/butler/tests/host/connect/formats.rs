//! Clients with formats of their own: TOML, YAML, and JSON with comments.

use super::{Home, success};
use crate::program::stderr;

/// A client, its file, what the file contains before, and texts that it contains afterwards.
pub const NEW_CLIENTS: [(&str, &str, &str, &[&str]); 7] = [
    (
        "codex",
        ".codex/config.toml",
        "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n",
        &["[mcp_servers.butler-memory]", "args = [\"mcp\", "],
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
        &["\"butler-memory\": {", "\"SessionStart\"", "\"timeout\": 10000"],
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // mine\n  \"mcp\": {\"timeout\": 5}\n}\n",
        &["\"servers\": {", "\"type\": \"local\""],
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
        &["\"command\""],
    ),
    ("zed", ".config/zed/settings.json", "// Zed\n{\n  \"theme\": \"One\", // mine\n}\n", &["\"context_servers\": {"]),
    (
        "cline",
        ".cline/data/settings/cline_mcp_settings.json",
        "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}",
        &["\"command\""],
    ),
    (
        "goose",
        ".config/goose/config.yaml",
        "GOOSE_MODEL: m # mine\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n# end\n",
        &["  butler-memory:\n", "    type: \"stdio\"\n"],
    ),
];

#[test]
fn every_client_is_connected_in_its_format_and_undone_byte_by_byte() {
    for (client, file, before, expected) in NEW_CLIENTS {
        let home = Home::new();
        home.write(file, before);
        let dry_run = success(&home.connect(&[client, "--dry-run"]));
        assert!(dry_run.contains("butler-memory") && home.text(file) == before, "{client}: {dry_run}");
        success(&home.connect(&[client]));
        let after = home.text(file);
        for text in expected {
            assert!(after.contains(text), "{client}: no {text:?} in\n{after}");
        }
        assert!(success(&home.connect(&[client])).contains("is already connected"), "{client}");
        success(&home.connect(&[client, "--undo"]));
        assert_eq!(home.text(file), before, "{client}");
        let printed = success(&home.connect(&[client, "--print"]));
        assert!(printed.contains("butler-memory"), "{client}: {printed}");
        assert_eq!(home.text(file), before, "{client}: --print wrote something");
    }
}

#[test]
fn undo_removes_the_files_that_connect_created() {
    for client in ["claude-code", "cursor", "vscode"] {
        let home = Home::new();
        success(&home.connect(&[client]));
        assert!(!home.files_with("butler-memory").is_empty(), "{client}");
        success(&home.connect(&[client, "--undo"]));
        assert_eq!(home.files_with(""), Vec::<std::path::PathBuf>::new(), "{client}");
    }
}

#[test]
fn a_variable_is_named_in_the_way_of_each_client() {
    for (client, file, expected) in [
        ("codex", ".codex/config.toml", Some("bearer_token_env_var = \"MY_TOKEN\"")),
        ("gemini", ".gemini/settings.json", Some("\"Bearer ${MY_TOKEN}\"")),
        ("opencode", ".config/opencode/opencode.json", Some("\"Bearer {env:MY_TOKEN}\"")),
        ("windsurf", ".codeium/windsurf/mcp_config.json", Some("\"Bearer ${env:MY_TOKEN}\"")),
        ("goose", ".config/goose/config.yaml", Some("env_keys: [\"MY_TOKEN\"]")),
        ("zed", ".config/zed/settings.json", None),
        ("cline", ".cline/data/settings/cline_mcp_settings.json", None),
    ] {
        let home = Home::new();
        let output =
            home.connect(&[client, "--no-hooks", "--http", "http://127.0.0.1:8150/mcp", "--token-env", "MY_TOKEN"]);
        match expected {
            Some(text) => {
                success(&output);
                assert!(home.text(file).contains(text), "{client}: {}", home.text(file));
            }
            None => {
                assert_eq!(output.status.code(), Some(2), "{client}");
                assert!(stderr(&output).contains("use --token"), "{}", stderr(&output));
            }
        }
    }
}
