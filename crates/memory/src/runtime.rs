//! The interface to an LLM: one prompt in, one answer out. The host implements it with a program or an HTTP endpoint;
//! consolidation and `butler run` use it.

use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;
use uuid::Uuid;

/// The trigger source of the sessions of consolidation.
pub const TRIGGER_CONSOLIDATION: &str = "schedule:consolidation";
/// The trigger source of the sessions that judge conflicts.
pub const TRIGGER_CONFLICTS: &str = "schedule:conflicts";

/// Whether a session is about the memory itself. Such a session must never become an episode.
pub fn is_internal(trigger_source: &str) -> bool {
    [TRIGGER_CONSOLIDATION, TRIGGER_CONFLICTS].contains(&trigger_source)
}

/// A conversation of one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Why the session was started: `schedule:consolidation`, `trigger`, `hook`, …. The runtime records it and passes
    /// it to its child processes.
    pub trigger_source: String,
    pub system: Option<String>,
    pub prompt: String,
    /// The JSON schema the answer should follow, for runtimes that can enforce one.
    pub schema: Option<Value>,
    /// Whether the prompt comes from the person who runs the session, as in `butler run`. The prompt of other sessions
    /// contains text that any writer of memories controls, so a program gets no tools and a restricted environment.
    pub trusted: bool,
    /// The session id of the episode that is stored for it.
    pub id: Option<Uuid>,
    /// A file with the MCP servers that the session may use, in the common format `{"mcpServers": …}`.
    pub mcp_config: Option<PathBuf>,
}

impl Session {
    /// A session with untrusted text: no tools, no schema and a restricted environment, until the fields say otherwise.
    pub fn new(trigger_source: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            trigger_source: trigger_source.into(),
            system: None,
            prompt: prompt.into(),
            schema: None,
            trusted: false,
            id: None,
            mcp_config: None,
        }
    }
}

/// The answer of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// Tokens of prompt and answer, if the runtime reports them.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
}

/// Runs sessions with an LLM.
pub trait Runtime: Send + Sync + 'static {
    /// Names the program, or the model and its endpoint, for messages. It contains no secret.
    fn describe(&self) -> String;

    /// Runs a session to its end.
    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>>;
}

/// Why a session gave no answer. The messages contain no secrets, so they may be stored and shown.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("cannot start {program}: {source}")]
    CannotStart { program: String, source: std::io::Error },
    #[error("{program} ended with {status}{}", detail(.stderr))]
    Failed { program: String, status: String, stderr: String },
    #[error("{runtime} gave no answer within {} s{}", .after.as_secs(), detail(.stderr))]
    TimedOut { runtime: String, after: Duration, stderr: String },
    #[error("{runtime} answered with more than {limit} bytes")]
    TooLarge { runtime: String, limit: usize },
    #[error("cannot reach {url}: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url} answered {status}{}", detail(.body))]
    Refused { url: String, status: u16, body: String },
    #[error("{url} returned an invalid completion: {reason}")]
    Malformed { url: String, reason: String },
    #[error("the runtime is not usable: {0}")]
    Misconfigured(String),
}

impl RuntimeError {
    /// The message for logs. It leaves out the output of the program or endpoint, which may repeat the prompt and the
    /// memories in it.
    pub fn without_quotes(&self) -> String {
        let quoted = match self {
            Self::Failed { stderr, .. } | Self::TimedOut { stderr, .. } => stderr,
            Self::Refused { body, .. } => body,
            _ => return self.to_string(),
        };
        let message = self.to_string();
        message.strip_suffix(&detail(quoted)).unwrap_or(&message).to_owned()
    }

    /// How to fix the problem, if it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::CannotStart { program, .. } => {
                Some(format!("install {program}, or name another program in [butler.runtime] command"))
            }
            Self::TimedOut { .. } => Some("raise [butler.runtime] timeout_s, or use a faster model".to_owned()),
            Self::Unreachable { .. } => {
                Some("check [butler.runtime] base_url and whether the server is running".to_owned())
            }
            Self::Refused { status: 401 | 403, .. } => {
                Some("the API key was rejected; check the variable that [butler.runtime] api_key_env names".to_owned())
            }
            Self::Refused { status: 404, .. } => Some("check [butler.runtime] base_url and model".to_owned()),
            _ => None,
        }
    }
}

/// `: text`, or nothing for a blank text.
fn detail(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_for_the_log_quotes_neither_program_nor_endpoint() {
        let quoted = || "Ann's door is violet.".to_owned();
        for (error, logged) in [
            (
                RuntimeError::Failed {
                    program: "llm".to_owned(),
                    status: "exit status: 3".to_owned(),
                    stderr: quoted(),
                },
                "llm ended with exit status: 3",
            ),
            (
                RuntimeError::TimedOut { runtime: "llm".to_owned(), after: Duration::from_secs(9), stderr: quoted() },
                "llm gave no answer within 9 s",
            ),
            (
                RuntimeError::Refused { url: "http://llm/".to_owned(), status: 400, body: quoted() },
                "http://llm/ answered 400",
            ),
            (
                RuntimeError::Failed {
                    program: "llm".to_owned(),
                    status: "signal: 9".to_owned(),
                    stderr: String::new(),
                },
                "llm ended with signal: 9",
            ),
        ] {
            assert_eq!(error.without_quotes(), logged);
        }
    }
}
