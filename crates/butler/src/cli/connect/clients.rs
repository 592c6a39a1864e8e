//! The supported clients, and the paths and formats of their configuration.

use std::path::PathBuf;

use butler_host::env;
use butler_host::error::HostError;
use butler_host::session::{Endpoint, SERVER_NAME};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::formats::Format;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cline,
    Codex,
    Cursor,
    Gemini,
    Goose,
    Opencode,
    Vscode,
    Windsurf,
    Zed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// For the current user, in every project
    User,
    /// For everyone who works in this directory
    Project,
}

/// How long a tool call may take in Goose, in seconds: its own default.
const GOOSE_TIMEOUT_S: u32 = 300;

impl Client {
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cline => "Cline",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Goose => "Goose",
            Self::Opencode => "opencode",
            Self::Vscode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
        }
    }

    /// The path of keys to the object that holds the MCP servers.
    pub const fn servers_path(self) -> &'static [&'static str] {
        match self {
            Self::Codex => &["mcp_servers"],
            Self::Goose => &["extensions"],
            Self::Opencode => &["mcp", "servers"],
            Self::Vscode => &["servers"],
            Self::Zed => &["context_servers"],
            _ => &["mcpServers"],
        }
    }

    pub const fn format(self) -> Format {
        match self {
            Self::Codex => Format::Toml,
            Self::Goose => Format::Yaml,
            Self::Gemini | Self::Opencode | Self::Vscode | Self::Zed => Format::JsonWithComments,
            _ => Format::Json,
        }
    }

    /// The format of the file with the hooks.
    pub const fn hooks_format(self) -> Format {
        match self {
            Self::Gemini => self.format(),
            _ => Format::Json,
        }
    }

    /// The file with the MCP servers.
    pub fn servers_file(self, scope: Scope) -> Result<PathBuf, HostError> {
        match scope {
            Scope::User => self.user_file(),
            Scope::Project => self
                .project_file()
                .ok_or_else(|| HostError::usage(format!("{} has no project scope", self.title()), "omit --scope")),
        }
    }

    fn user_file(self) -> Result<PathBuf, HostError> {
        Ok(match self {
            Self::ClaudeCode => dir(env::CLAUDE_CONFIG_DIR, "")?.join(".claude.json"),
            Self::ClaudeDesktop => app_config_dir()?.join("Claude/claude_desktop_config.json"),
            Self::Cline => match env::var(env::CLINE_MCP_SETTINGS_PATH) {
                Some(file) => file.into(),
                None => home()?.join(".cline/data/settings/cline_mcp_settings.json"),
            },
            Self::Codex => dir(env::CODEX_HOME, ".codex")?.join("config.toml"),
            Self::Cursor => home()?.join(".cursor/mcp.json"),
            Self::Gemini => home()?.join(".gemini/settings.json"),
            Self::Goose => xdg_config_dir()?.join("goose/config.yaml"),
            Self::Opencode => existing_jsonc(xdg_config_dir()?.join("opencode/opencode.json")),
            Self::Vscode => app_config_dir()?.join("Code/User/mcp.json"),
            Self::Windsurf => home()?.join(".codeium/windsurf/mcp_config.json"),
            Self::Zed => xdg_config_dir()?.join("zed/settings.json"),
        })
    }

    fn project_file(self) -> Option<PathBuf> {
        let file = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => return Some(existing_jsonc("opencode.json".into())),
            Self::Vscode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
            Self::ClaudeDesktop | Self::Cline | Self::Goose | Self::Windsurf => return None,
        };
        Some(file.into())
    }

    /// The file with the hooks, if butler installs hooks for the client.
    pub fn hooks_file(self, scope: Scope) -> Result<Option<PathBuf>, HostError> {
        Ok(match (self, scope) {
            (Self::ClaudeCode, Scope::User) => Some(dir(env::CLAUDE_CONFIG_DIR, ".claude")?.join("settings.json")),
            (Self::ClaudeCode, Scope::Project) => Some(".claude/settings.json".into()),
            (Self::Codex, Scope::User) => Some(dir(env::CODEX_HOME, ".codex")?.join("hooks.json")),
            (Self::Codex, Scope::Project) => Some(".codex/hooks.json".into()),
            (Self::Gemini, _) => Some(self.servers_file(scope)?),
            _ => None,
        })
    }

    /// How the client's configuration refers to an environment variable; `None` if it cannot.
    pub fn variable(self, name: &str) -> Option<String> {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Codex | Self::Gemini | Self::Goose => {
                Some(format!("${{{name}}}"))
            }
            Self::Cursor | Self::Vscode | Self::Windsurf => Some(format!("${{env:{name}}}")),
            Self::Opencode => Some(format!("{{env:{name}}}")),
            Self::Cline | Self::Zed => None,
        }
    }

    /// The server's entry in this client's format.
    pub fn entry(self, endpoint: &Endpoint) -> Result<Value, HostError> {
        Ok(match endpoint {
            Endpoint::Stdio { command, arguments, .. } => self.stdio_entry(endpoint, command, arguments),
            Endpoint::Http { url, bearer } => {
                let header = bearer.as_ref().map(|bearer| json!({"Authorization": format!("Bearer {bearer}")}));
                self.http_entry(endpoint, url, bearer.as_deref(), header)?
            }
        })
    }

    fn stdio_entry(self, endpoint: &Endpoint, command: &str, arguments: &[String]) -> Value {
        match self {
            Self::ClaudeCode | Self::Vscode => endpoint.entry(),
            Self::Opencode => {
                let command: Vec<&str> = [command].into_iter().chain(arguments.iter().map(String::as_str)).collect();
                json!({"type": "local", "command": command})
            }
            Self::Goose => json!({"type": "stdio", "name": SERVER_NAME, "description": "Long-term memory",
                "enabled": true, "cmd": command, "args": arguments, "envs": {}, "timeout": GOOSE_TIMEOUT_S}),
            _ => json!({"command": command, "args": arguments}),
        }
    }

    fn http_entry(
        self,
        endpoint: &Endpoint,
        url: &str,
        bearer: Option<&str>,
        headers: Option<Value>,
    ) -> Result<Value, HostError> {
        let variable = bearer.and_then(|bearer| bearer.strip_prefix("${")?.strip_suffix('}'));
        let (mut entry, headers_key) = match self {
            Self::ClaudeDesktop => {
                return Err(HostError::usage(
                    "the configuration of Claude Desktop does not support HTTP servers",
                    "omit --http",
                ));
            }
            Self::ClaudeCode | Self::Vscode => return Ok(endpoint.entry()),
            Self::Cline => (json!({"type": "streamableHttp", "url": url}), "headers"),
            // Codex names the variable itself and adds the word Bearer.
            Self::Codex => match variable {
                Some(name) => return Ok(json!({"url": url, "bearer_token_env_var": name})),
                None => (json!({"url": url}), "http_headers"),
            },
            Self::Cursor | Self::Zed => (json!({"url": url}), "headers"),
            Self::Gemini => (json!({"httpUrl": url}), "headers"),
            Self::Goose => {
                let mut entry = json!({"type": "streamable_http", "name": SERVER_NAME, "enabled": true,
                    "description": "Long-term memory", "uri": url, "timeout": GOOSE_TIMEOUT_S});
                if let Some(name) = variable {
                    entry["env_keys"] = json!([name]);
                }
                (entry, "headers")
            }
            Self::Opencode => (json!({"type": "remote", "url": url}), "headers"),
            Self::Windsurf => (json!({"serverUrl": url}), "headers"),
        };
        if let Some(headers) = headers {
            entry[headers_key] = headers;
        }
        Ok(entry)
    }

    /// What the user has to know or do after connecting.
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some("Codex asks you to trust the hook at its next start; `/hooks` in Codex shows it"),
            Self::Opencode => Some(
                "this is the format of opencode 2; for opencode 1, move the entry from `mcp.servers` to `mcp` yourself",
            ),
            _ => None,
        }
    }
}

fn home() -> Result<PathBuf, HostError> {
    std::env::home_dir()
        .filter(|home| home.is_absolute())
        .ok_or_else(|| HostError::Failed("no home directory found".to_owned()))
}

/// The directory that a variable names, or one in the home directory.
fn dir(variable: &str, in_home: &str) -> Result<PathBuf, HostError> {
    match env::var(variable) {
        Some(dir) => Ok(dir.into()),
        None => Ok(home()?.join(in_home)),
    }
}

/// The directory where desktop applications keep their settings.
fn app_config_dir() -> Result<PathBuf, HostError> {
    if cfg!(target_os = "macos") { Ok(home()?.join("Library/Application Support")) } else { xdg_config_dir() }
}

/// The directory where terminal programs keep their settings, also on macOS.
fn xdg_config_dir() -> Result<PathBuf, HostError> {
    match env::var(env::XDG_CONFIG_HOME).map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        Some(dir) => Ok(dir),
        None => Ok(home()?.join(".config")),
    }
}

/// The file with the ending .jsonc instead, if the user has that one.
fn existing_jsonc(file: PathBuf) -> PathBuf {
    let with_comments = file.with_extension("jsonc");
    if with_comments.is_file() { with_comments } else { file }
}
