//! Memory as a session sees it: asked in passing, never waited for longer than agreed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use butler_memory::tool::{Answer, ToolError};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

/// The way to a butler's memory tools.
pub trait SessionMemory: Send + Sync + 'static {
    /// Returns when calls can be made; whatever has to be started for that goes on if nobody waits any longer.
    fn ready(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> BoxFuture<'a, Result<Answer, ToolError>>;
}

/// Why memory was done without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub what: &'static str,
    pub reason: String,
    pub hint: Option<String>,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.reason)
    }
}

pub(super) struct Failed {
    reason: String,
    hint: Option<String>,
}

impl Failed {
    pub fn during(self, what: &'static str) -> Trouble {
        let trouble = Trouble { what, reason: self.reason, hint: self.hint };
        tracing::warn!(hint = trouble.hint, "{trouble}");
        trouble
    }
}

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Self {
        Self { reason: error.message, hint: error.hint }
    }
}

/// A private PostgreSQL that is made for the first time takes some seconds, which a session's own work covers.
const START: Duration = Duration::from_secs(30);

/// At the beginning: the whole way, start included, within the time.
pub(super) async fn ask(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    patience: Duration,
) -> Result<Answer, Failed> {
    within(memory, tool, arguments, patience, patience).await
}

/// At the end: a start that is still under way is waited for, since the answer is out already.
pub(super) async fn tell(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    patience: Duration,
) -> Result<Answer, Failed> {
    within(memory, tool, arguments, START.max(patience), patience).await
}

async fn within(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    start: Duration,
    call: Duration,
) -> Result<Answer, Failed> {
    let begun = std::time::Instant::now();
    // Tasks of their own: what was begun is finished even when nobody waits for it any longer.
    let starting = Arc::clone(memory);
    let ready = tokio::spawn(async move { starting.ready().await });
    match tokio::time::timeout(start, ready).await {
        Err(_) => return Err(slow(start)),
        Ok(started) => started.unwrap_or_else(|error| Err(ToolError::internal(error.to_string())))?,
    }
    let asked = Arc::clone(memory);
    let answer = tokio::spawn(async move { asked.call(tool, arguments).await });
    let left = if start == call { call.saturating_sub(begun.elapsed()) } else { call };
    match tokio::time::timeout(left, answer).await {
        Err(_) => Err(slow(call)),
        Ok(answer) => Ok(answer.unwrap_or_else(|error| Err(ToolError::internal(error.to_string())))?),
    }
}

fn slow(after: Duration) -> Failed {
    Failed {
        reason: format!("memory gave no answer within {} s", after.as_secs_f64()),
        hint: Some(
            "`butler doctor` looks at it; [butler.session] memory_timeout_s is how long a session waits".to_owned(),
        ),
    }
}
