//! What a command can fail with. Each says what failed, why, and what to do next.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use butler_memory::runtime::RuntimeError;
use butler_memory::tool::{ErrorCode, ToolError};

use crate::config::ConfigError;
use crate::instance::Instance;
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
    #[error("there is no butler {name:?}; there are: {known}")]
    UnknownButler { name: String, known: String },
    #[error("butlers {first:?} and {second:?} would share one database and schema")]
    SharedDatabase { first: String, second: String },
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("the address {address} is in use{}", owner_note(.owner))]
    PortInUse { address: SocketAddr, owner: Option<PortOwner> },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("{address} can be reached from other machines, and there is no token yet: anybody could read and write")]
    NoTokens { address: SocketAddr, command: String },
    #[error("there is no token {id}")]
    UnknownToken { id: uuid::Uuid },
    #[error("{}: {reason}", .path.display())]
    Tls { path: PathBuf, reason: String },
    #[error(
        "a server already runs on {data_dir}{}", running_note(.running),
        data_dir = data_dir.display()
    )]
    AlreadyRunning { data_dir: PathBuf, running: Option<Box<Instance>> },
    #[error("the private PostgreSQL in {} is not running", .data_dir.display())]
    NotServing { data_dir: PathBuf },
    #[error("{0}")]
    Failed(String),
    /// The command line asks for something that cannot be; exit code 2.
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    #[error("butler {butler:?} has no LLM to run a session with")]
    NoRuntime { butler: String },
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// What a tool answered instead of a result.
    #[error("{}", .0.message)]
    Tool(ToolError),
    /// What a start failed with; whoever waits for the start is told, too.
    #[error(transparent)]
    Start(Arc<HostError>),
    /// Already told in full, line by line.
    #[error("{0} of the checks failed")]
    Unhealthy(usize),
    #[error("the server failed: {0}")]
    Serve(io::Error),
}

/// The butler that listens where we wanted to.
#[derive(Debug, Clone, Copy)]
pub struct PortOwner {
    pub pid: u64,
}

fn owner_note(owner: &Option<PortOwner>) -> String {
    owner.map_or_else(String::new, |owner| {
        format!(": a butler with another data directory (process {}) listens there", owner.pid)
    })
}

fn running_note(running: &Option<Box<Instance>>) -> String {
    running.as_ref().map_or_else(String::new, |it| format!(": process {} on {}", it.pid, it.url))
}

impl HostError {
    /// What lies below the message, outermost first; what the message already says is left out.
    pub fn causes(&self) -> Vec<String> {
        let mut said = self.to_string();
        let mut causes = Vec::new();
        let mut next = self.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !said.contains(&text) {
                said.push_str(&text);
                causes.push(text);
            }
            next = cause.source();
        }
        causes
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint().map(str::to_owned),
            Self::Store { source, .. } => source.hint(),
            Self::Module(error) => error.hint(),
            Self::UnknownButler { .. } => Some("name one of them with --butler".to_owned()),
            Self::SharedDatabase { .. } => Some("give each its own `url` or `schema` in [butler.database]".to_owned()),
            Self::Io { source, .. } => io_hint(source),
            Self::PortInUse { .. } => {
                Some("choose another with --listen, as in `butler serve --listen 127.0.0.1:8151`".to_owned())
            }
            Self::Listen { .. } => {
                Some("--listen wants an address of this machine and a port, as in 127.0.0.1:8150".to_owned())
            }
            Self::NoTokens { command, .. } => Some(format!("make one, then start again: {command}")),
            Self::UnknownToken { .. } => Some("`butler token list` shows those there are".to_owned()),
            Self::Tls { .. } => Some(
                "--tls-cert wants the certificate with its chain, --tls-key its private key, both as PEM files"
                    .to_owned(),
            ),
            Self::AlreadyRunning { running: Some(it), .. } => {
                Some(format!("use it, stop it with `kill {}`, or start this one with another --data-dir", it.pid))
            }
            Self::AlreadyRunning { running: None, .. } => {
                Some("wait until it has started or stopped, or start this one with another --data-dir".to_owned())
            }
            Self::NotServing { .. } => Some("start it: butler serve".to_owned()),
            Self::Start(error) => error.hint(),
            Self::NoRuntime { .. } => Some(
                "add it to butler.toml and pass that with --config:\n  [butler.runtime]\n  type = \"command\"\n  \
                 command = [\"claude\", \"-p\"]"
                    .to_owned(),
            ),
            Self::Runtime(error) => error.hint(),
            Self::Usage { hint, .. } => hint.clone(),
            Self::Tool(error) => error.hint.clone(),
            Self::Unhealthy(_) => Some("each failed check above names its remedy".to_owned()),
            Self::Postgres(_) | Self::Embed(_) | Self::Failed(_) | Self::Serve(_) => None,
        }
    }

    /// 1: it failed; 2: it was asked for wrongly.
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

fn io_hint(error: &io::Error) -> Option<String> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Some("make it writable for this user, or choose another place with --data-dir".to_owned())
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free some space, or choose another place with --data-dir".to_owned())
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            Some("a file is in the way: choose another place with --data-dir".to_owned())
        }
        _ => None,
    }
}
