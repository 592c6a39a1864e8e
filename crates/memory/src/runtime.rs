//! The LLM, seen from memory: one session in, one answer out. The host implements it (a program, an HTTP endpoint);
//! consolidation and `butler run` use it.

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use uuid::Uuid;

/// Why a session is started; sessions of consolidation itself must never become episodes.
pub const TRIGGER_CONSOLIDATION: &str = "schedule:consolidation";

/// One conversation of one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// `schedule:consolidation`, `trigger`, `hook`, …: recorded by the runtime and visible to its child processes.
    pub trigger_source: String,
    pub system: Option<String>,
    pub prompt: String,
    /// The JSON schema the answer should follow, for runtimes that can enforce one.
    pub schema: Option<Value>,
    /// Where a program runs; omitted: where the host runs.
    pub directory: Option<PathBuf>,
    /// Under which its episode is stored.
    pub id: Option<Uuid>,
    /// A file with the MCP servers the session may use, in the form most programs read: `{"mcpServers": …}`.
    pub mcp_config: Option<PathBuf>,
}

impl Session {
    pub fn new(trigger_source: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            trigger_source: trigger_source.into(),
            system: None,
            prompt: prompt.into(),
            schema: None,
            directory: None,
            id: None,
            mcp_config: None,
        }
    }
}

/// What came back. Token counts are there when the runtime reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
}

pub trait Runtime: Send + Sync + 'static {
    /// For messages: the program, or the model and its endpoint. Never a secret.
    fn describe(&self) -> String;

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>>;
}

/// Why a session brought no answer. Every message is safe to store and to show: keys are never part of one.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("cannot start {program}: {source}")]
    CannotStart { program: String, source: std::io::Error },
    #[error("{program} ended with {status}{}", said(.stderr))]
    Failed { program: String, status: String, stderr: String },
    #[error("{runtime} gave no answer within {} s{}", .after.as_secs(), said(.stderr))]
    TimedOut { runtime: String, after: Duration, stderr: String },
    #[error("{runtime} answered with more than {limit} bytes")]
    TooLarge { runtime: String, limit: usize },
    #[error("cannot reach {url}: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} answered {status}{}", said(.body))]
    Refused { url: String, status: u16, body: String },
    #[error("{url} answered something that is no completion: {reason}")]
    Malformed { url: String, reason: String },
    #[error("the runtime is not usable: {0}")]
    Misconfigured(String),
}

impl RuntimeError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::CannotStart { program, .. } => {
                Some(format!("install {program}, or name another program in [butler.runtime] command"))
            }
            Self::TimedOut { .. } => Some("raise [butler.runtime] timeout_s, or take a faster model".to_owned()),
            Self::Unreachable { .. } => Some("check [butler.runtime] base_url and that the server runs".to_owned()),
            Self::Refused { status: 401 | 403, .. } => {
                Some("the key was refused: check the variable named by [butler.runtime] api_key_env".to_owned())
            }
            Self::Refused { status: 404, .. } => Some("check [butler.runtime] base_url and model".to_owned()),
            _ => None,
        }
    }
}

fn said(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
