//! Memory calls of a session, with time limits so that slow memory does not hold up the session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use butler_memory::tool::{Answer, ToolError};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

/// Access to a butler's memory tools.
pub trait SessionMemory: Send + Sync + 'static {
    /// Waits until calls are possible. If the caller stops waiting, the start continues in the background.
    fn ready(&self) -> BoxFuture<'_, Result<(), ToolError>>;

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> BoxFuture<'a, Result<Answer, ToolError>>;
}

/// Why a session continued without memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryProblem {
    pub what: &'static str,
    pub reason: String,
    pub hint: Option<String>,
}

impl fmt::Display for MemoryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.reason)
    }
}

pub(super) struct CallFailure {
    reason: String,
    hint: Option<String>,
}

impl CallFailure {
    pub fn during(self, what: &'static str) -> MemoryProblem {
        let problem = MemoryProblem { what, reason: self.reason, hint: self.hint };
        tracing::warn!(hint = problem.hint, "{problem}");
        problem
    }
}

impl From<ToolError> for CallFailure {
    fn from(error: ToolError) -> Self {
        Self { reason: error.message, hint: error.hint }
    }
}

/// The first start of the private PostgreSQL takes some seconds. At the end of a session there is time to wait for it.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Calls a tool at the start of a session. The timeout includes the start of the memory.
pub(super) async fn call_at_start(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    timeout: Duration,
) -> Result<Answer, CallFailure> {
    within(memory, tool, arguments, timeout, timeout).await
}

/// Calls a tool at the end of a session. Also waits for the memory to start, because the user already has the answer.
pub(super) async fn call_at_end(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    timeout: Duration,
) -> Result<Answer, CallFailure> {
    within(memory, tool, arguments, START_TIMEOUT.max(timeout), timeout).await
}

async fn within(
    memory: &Arc<dyn SessionMemory>,
    tool: &'static str,
    arguments: Map<String, Value>,
    start: Duration,
    call: Duration,
) -> Result<Answer, CallFailure> {
    let begun = std::time::Instant::now();
    // Separate tasks, so that the start and the call complete even after the timeout.
    let starting = Arc::clone(memory);
    let ready = tokio::spawn(async move { starting.ready().await });
    match tokio::time::timeout(start, ready).await {
        Err(_) => return Err(slow(start)),
        Ok(started) => started.unwrap_or_else(|error| Err(ToolError::internal(error.to_string())))?,
    }
    let calling = Arc::clone(memory);
    let answer = tokio::spawn(async move { calling.call(tool, arguments).await });
    let left = if start == call { call.saturating_sub(begun.elapsed()) } else { call };
    match tokio::time::timeout(left, answer).await {
        Err(_) => Err(slow(call)),
        Ok(answer) => Ok(answer.unwrap_or_else(|error| Err(ToolError::internal(error.to_string())))?),
    }
}

fn slow(after: Duration) -> CallFailure {
    CallFailure {
        reason: format!("memory did not respond within {} s", after.as_secs_f64()),
        hint: Some("run `butler doctor`, or raise memory_timeout_s in [butler.session]".to_owned()),
    }
}
