//! The MCP configuration file of a session, which exists as long as the session runs.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use uuid::Uuid;

/// The name of the MCP server in the configuration of clients.
pub const SERVER_NAME: &str = "butler-memory";

/// The header with which a session's MCP client names the session.
pub const SESSION_HEADER: &str = "x-butler-session";

/// How a session's program reaches the butler's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    Http {
        url: String,
        bearer: Option<String>,
    },
    /// The program starts its own server and talks to it over stdin and stdout.
    Stdio {
        command: String,
        arguments: Vec<String>,
        environment: Vec<(String, String)>,
    },
}

impl Endpoint {
    /// The entry for `mcpServers`, in the format that most clients read.
    pub fn entry(&self) -> Value {
        match self {
            Self::Http { url, bearer: None } => json!({"type": "http", "url": url}),
            Self::Http { url, bearer: Some(bearer) } => {
                json!({"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {bearer}")}})
            }
            Self::Stdio { command, arguments, environment } => {
                let mut entry = json!({"type": "stdio", "command": command, "args": arguments});
                if !environment.is_empty() {
                    entry["env"] = environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                }
                entry
            }
        }
    }
}

/// The configuration file; removed when dropped.
#[derive(Debug)]
pub struct McpConfig {
    path: PathBuf,
}

impl McpConfig {
    /// Writes the file, readable by its owner only because it may contain a bearer token.
    pub fn write(directory: &Path, session: Uuid, endpoint: &Endpoint) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let path = directory.join(format!("mcp-{session}.json"));
        let mut entry = endpoint.entry();
        match endpoint {
            Endpoint::Http { .. } => entry["headers"][SESSION_HEADER] = json!(session),
            Endpoint::Stdio { .. } => entry["env"][crate::env::SESSION_ID] = json!(session),
        }
        let text = json!({"mcpServers": {SERVER_NAME: entry}}).to_string();
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for McpConfig {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
