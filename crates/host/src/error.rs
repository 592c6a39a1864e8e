//! The errors of the host and of commands. Each says what failed and why, and has a hint for the next step.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use butler_memory::runtime::RuntimeError;
use butler_memory::tool::{ErrorCode, ToolError};

use crate::config::ConfigError;
use crate::module::ModuleError;

#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Postgres(#[from] butler_postgres::PostgresError),
    #[error(transparent)]
    Embed(#[from] butler_embed::EmbedError),
    #[error("butler {butler:?}: {source}")]
    Store { butler: String, source: butler_store::StoreError },
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error("there is no butler {name:?}; known butlers: {known}")]
    UnknownButler { name: String, known: String },
    #[error("butlers {first:?} and {second:?} have the same database and schema")]
    SharedDatabase { first: String, second: String },
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("the address {address} is in use{}", owner_note(.owner))]
    PortInUse { address: SocketAddr, owner: Option<PortOwner> },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("{address} is reachable from other machines, but no token exists: anybody could read and write")]
    NoTokens { address: SocketAddr, command: String },
    #[error("there is no token {id}")]
    UnknownToken { id: uuid::Uuid },
    #[error("tenant {tenant:?} already has a token named {name:?} for {butlers}")]
    TokenNameTaken { name: String, tenant: String, butlers: String },
    #[error("the token {id} is revoked or has expired")]
    TokenNotLive { id: uuid::Uuid },
    #[error("{}: {reason}", .path.display())]
    Tls { path: PathBuf, reason: String },
    #[error(
        "a server is already running on {data_dir}{}", running_note(.running),
        data_dir = data_dir.display()
    )]
    AlreadyRunning { data_dir: PathBuf, running: Option<RunningServer> },
    #[error("the private PostgreSQL in {} is not running", .data_dir.display())]
    NotServing { data_dir: PathBuf },
    #[error("{0}")]
    Failed(String),
    /// The command line is not valid; exit code 2.
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    #[error("butler {butler:?} has no LLM, which a session needs")]
    NoRuntime { butler: String },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The error that a tool returned.
    #[error("{}", .0.message)]
    Tool(ToolError),
    /// The start failed. The error is shared with everyone who waits for the start.
    #[error(transparent)]
    Start(Arc<HostError>),
    /// Each failed check has already been printed.
    #[error("{0} of the checks failed")]
    Unhealthy(usize),
    #[error("the server failed: {0}")]
    Serve(io::Error),
}

/// The server that holds the lock of the data directory.
#[derive(Debug, Clone)]
pub struct RunningServer {
    pub pid: u32,
    pub url: String,
}

/// The butler process that already listens on the address.
#[derive(Debug, Clone, Copy)]
pub struct PortOwner {
    pub pid: u64,
}

fn owner_note(owner: &Option<PortOwner>) -> String {
    owner.map_or_else(String::new, |owner| format!(" by a butler with another data directory (process {})", owner.pid))
}

fn running_note(running: &Option<RunningServer>) -> String {
    running.as_ref().map_or_else(String::new, |server| format!(": process {} on {}", server.pid, server.url))
}

impl HostError {
    /// Whether the server has no database of the configured name.
    pub(crate) fn is_missing_database(&self) -> bool {
        matches!(self, Self::Store { source: butler_store::StoreError::NoDatabase { .. }, .. })
    }

    /// The chain of causes, outermost first, without those that the message already contains.
    pub fn causes(&self) -> Vec<String> {
        let mut text_so_far = self.to_string();
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !text_so_far.contains(&text) {
                text_so_far.push_str(&text);
                causes.push(text);
            }
            next = cause.source();
        }
        causes
    }

    /// What the user can do next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint().map(str::to_owned),
            Self::Store { source, .. } => source.hint(),
            Self::Module(error) => error.hint(),
            Self::UnknownButler { .. } => Some(
                "choose one with --butler; a butler that is no longer configured keeps its memory, and has it again once its \
                 butler.toml is back"
                    .to_owned(),
            ),
            Self::SharedDatabase { .. } => Some("give each its own `url` or `schema` in [butler.database]".to_owned()),
            Self::Io { source, .. } => io_hint(source),
            Self::PortInUse { .. } => {
                Some("choose another address, for example `butler serve --listen 127.0.0.1:8151`".to_owned())
            }
            Self::Listen { .. } => {
                Some("--listen takes an address of this machine and a port, for example 127.0.0.1:8150".to_owned())
            }
            Self::NoTokens { command, .. } => Some(format!("create a token, then start again: {command}")),
            Self::UnknownToken { .. } => Some("`butler token list` shows all tokens".to_owned()),
            Self::TokenNameTaken { .. } => Some(
                "choose another name, or give that token a new secret with `butler token rotate ID`; `butler token list` \
                 shows its id"
                    .to_owned(),
            ),
            Self::TokenNotLive { .. } => Some("create a new one: butler token create --tenant TENANT".to_owned()),
            Self::Tls { .. } => Some(
                "--tls-cert takes the certificate with its chain, --tls-key its private key, both as PEM files"
                    .to_owned(),
            ),
            Self::AlreadyRunning { running: Some(server), .. } => {
                Some(format!("use that server, stop it with `kill {}`, or pass another --data-dir", server.pid))
            }
            Self::AlreadyRunning { running: None, .. } => {
                Some("wait until it has started or stopped, or pass another --data-dir".to_owned())
            }
            Self::NotServing { .. } => Some("start the server: butler serve".to_owned()),
            Self::Start(error) => error.hint(),
            Self::NoRuntime { .. } => Some(
                "add one to butler.toml and pass the file with --config:\n  [butler.runtime]\n  type = \"command\"\n  \
                 command = [\"claude\", \"-p\"]"
                    .to_owned(),
            ),
            Self::Runtime(error) => error.hint(),
            Self::Usage { hint, .. } => hint.clone(),
            Self::Tool(error) => error.hint.clone(),
            Self::Unhealthy(_) => Some("each failed check above says what to do".to_owned()),
            Self::Postgres(_) | Self::Embed(_) | Self::Failed(_) | Self::Serve(_) => None,
        }
    }

    /// The exit code of the command: 1 for a failure, 2 for wrong usage.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::Tool(error) if error.code == ErrorCode::InvalidArgument => 2,
            _ => 1,
        }
    }

    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// The error of a tool call while the server, the butler or its memory is not running.
pub fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
    ToolError { hint: Some(hint.into()), ..ToolError::new(ErrorCode::Unavailable, message) }
}

fn io_hint(error: &io::Error) -> Option<String> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("make it writable for this user, or choose another directory with --data-dir".to_owned())
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free disk space, or choose another directory with --data-dir".to_owned())
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            Some("a file with this name exists: choose another directory with --data-dir".to_owned())
        }
        _ => None,
    }
}
