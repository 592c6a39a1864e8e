//! `butler connect`: what it adds to the files of other programs and what it leaves unchanged; and `butler uninstall`.

mod formats;
mod tokens;
mod uninstall;

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
