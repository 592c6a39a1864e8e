//! The supported clients, and the paths and formats of their configuration.

use std::path::PathBuf;

use butler_host::env;
use butler_host::error::HostError;
use butler_host::session::Endpoint;
use clap::ValueEnum;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// For the current user, in every project
    User,
    /// For everyone who works in this directory
    Project,
}

impl Client {
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
        }
    }

    /// The key of the object that holds the MCP servers.
    pub const fn servers_key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            _ => "mcpServers",
        }
    }

    pub const fn allows_comments(self) -> bool {
        matches!(self, Self::Vscode)
    }

    /// The file with the MCP servers.
    pub fn servers_file(self, scope: Scope) -> Result<PathBuf, HostError> {
        match (self, scope) {
            (Self::ClaudeCode, Scope::User) => match env::var(env::CLAUDE_CONFIG_DIR) {
                Some(dir) => Ok(PathBuf::from(dir).join(".claude.json")),
                None => Ok(home()?.join(".claude.json")),
            },
            (Self::ClaudeCode, Scope::Project) => Ok(".mcp.json".into()),
            (Self::ClaudeDesktop, Scope::User) => Ok(app_config_dir()?.join("Claude/claude_desktop_config.json")),
            (Self::ClaudeDesktop, Scope::Project) => {
                Err(HostError::usage("Claude Desktop has no project scope", "omit --scope"))
            }
            (Self::Cursor, Scope::User) => Ok(home()?.join(".cursor/mcp.json")),
            (Self::Cursor, Scope::Project) => Ok(".cursor/mcp.json".into()),
            (Self::Vscode, Scope::User) => Ok(app_config_dir()?.join("Code/User/mcp.json")),
            (Self::Vscode, Scope::Project) => Ok(".vscode/mcp.json".into()),
        }
    }

    /// The file with the hooks, if the client supports hooks.
    pub fn hooks_file(self, scope: Scope) -> Result<Option<PathBuf>, HostError> {
        match (self, scope) {
            (Self::ClaudeCode, Scope::User) => Ok(Some(match env::var(env::CLAUDE_CONFIG_DIR) {
                Some(dir) => PathBuf::from(dir).join("settings.json"),
                None => home()?.join(".claude/settings.json"),
            })),
            (Self::ClaudeCode, Scope::Project) => Ok(Some(".claude/settings.json".into())),
            _ => Ok(None),
        }
    }

    /// How the client's configuration refers to an environment variable.
    pub fn variable(self, name: &str) -> String {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop => format!("${{{name}}}"),
            Self::Cursor | Self::Vscode => format!("${{env:{name}}}"),
        }
    }

    /// The server's entry in this client's format.
    pub fn entry(self, endpoint: &Endpoint) -> Result<Value, HostError> {
        let mut entry = endpoint.entry();
        match (self, endpoint) {
            (Self::ClaudeDesktop, Endpoint::Http { .. }) => {
                return Err(HostError::usage(
                    "the configuration of Claude Desktop does not support HTTP servers",
                    "omit --http",
                ));
            }
            (Self::ClaudeDesktop | Self::Cursor, _) => {
                if let Some(fields) = entry.as_object_mut() {
                    fields.remove("type");
                }
            }
            (Self::ClaudeCode | Self::Vscode, _) => {}
        }
        Ok(entry)
    }

    /// A complete configuration file with this entry, for `--print`.
    pub fn snippet(self, entry: &Value) -> Value {
        json!({self.servers_key(): {butler_host::session::SERVER_NAME: entry}})
    }
}

fn home() -> Result<PathBuf, HostError> {
    std::env::home_dir()
        .filter(|home| home.is_absolute())
        .ok_or_else(|| HostError::Failed("no home directory found".to_owned()))
}

/// The directory where desktop applications keep their settings.
fn app_config_dir() -> Result<PathBuf, HostError> {
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support"));
    }
    match env::var(env::XDG_CONFIG_HOME).map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        Some(dir) => Ok(dir),
        None => Ok(home()?.join(".config")),
    }
}
