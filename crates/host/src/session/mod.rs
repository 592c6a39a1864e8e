//! One session with memory: read the context, run the LLM with the context in its system prompt, store the episode. If
//! memory fails or is slow, the session reports it and continues without memory.

mod episode;
mod mcp_config;
mod memory;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use butler_domain::secrets::Redactor;
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session, is_internal};
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub use episode::{bounded, transcript_of};
pub use mcp_config::{Endpoint, McpConfig, SERVER_NAME, SESSION_HEADER};
pub use memory::{MemoryProblem, SessionMemory};
pub use prompt::own_prompt;

/// Runs sessions of one butler.
pub struct SessionRunner {
    pub butler: String,
    pub memory: Arc<dyn SessionMemory>,
    pub runtime: Arc<dyn Runtime>,
    pub redactor: Redactor,
    /// The butler's own system prompt.
    pub own_prompt: Option<String>,
    pub memory_timeout: Duration,
    /// How the session's program reaches this butler's tools.
    pub endpoint: Endpoint,
    /// The directory for the MCP configuration file of a running session.
    pub directory: PathBuf,
}

/// A session whose context has been read.
#[derive(Debug)]
pub struct StartedSession {
    pub id: Uuid,
    pub prompt: String,
    pub trigger_source: String,
    /// The context block; `None` if it is empty or memory did not respond.
    pub context: Option<String>,
    pub problems: Vec<MemoryProblem>,
}

/// A session that has finished.
#[derive(Debug)]
pub struct FinishedSession {
    /// The id of the stored episode.
    pub episode: Option<String>,
    pub problems: Vec<MemoryProblem>,
}

impl SessionRunner {
    /// Starts a session by reading its context, within the memory timeout.
    pub async fn begin(&self, prompt: String, trigger_source: String) -> StartedSession {
        let mut problems = Vec::new();
        let id = Uuid::new_v4();
        let context = json!({"request_id": "run", "session_id": id});
        let arguments = object(json!({"trigger_prompt": prompt, "butler": self.butler, "request_context": context}));
        let answer = memory::call_at_start(&self.memory, "memory_context", arguments, self.memory_timeout).await;
        let context = match answer {
            Ok(answer) => answer.text.filter(|text| !text.trim().is_empty()),
            Err(failed) => {
                problems.push(failed.during("the session starts without memory"));
                None
            }
        };
        StartedSession { id, prompt, trigger_source, context, problems }
    }

    /// Runs the LLM.
    pub async fn answer(&self, begun: &StartedSession) -> Result<Completion, RuntimeError> {
        // Without the file the LLM has no memory tools, but it can still answer.
        let config = match McpConfig::write(&self.directory, begun.id, &self.endpoint) {
            Ok(config) => Some(config),
            Err(error) => {
                tracing::warn!(%error, "the session runs without memory tools");
                None
            }
        };
        let session = Session {
            system: prompt::system(self.own_prompt.as_deref(), begun.context.as_deref()),
            id: Some(begun.id),
            mcp_config: config.as_ref().map(|config| config.path().to_path_buf()),
            trusted: true,
            ..Session::new(&begun.trigger_source, &begun.prompt)
        };
        self.runtime.complete(session).await
    }

    /// Stores the episode, unless the session is about the memory itself.
    pub async fn end(&self, begun: &StartedSession, answer: &str) -> FinishedSession {
        if is_internal(&begun.trigger_source) {
            return FinishedSession { episode: None, problems: Vec::new() };
        }
        // Before the text is shortened: a part of a secret may not be recognised.
        let [prompt, answer] = [&begun.prompt, answer].map(|text| self.redactor.redact(text).text);
        let arguments = object(json!({
            "content": episode::of_exchange(&prompt, &answer), "butler": self.butler, "session_id": begun.id,
            "metadata": {"trigger_source": begun.trigger_source}, "idempotency_key": format!("session:{}", begun.id),
        }));
        match memory::call_at_end(&self.memory, "memory_store_episode", arguments, self.memory_timeout).await {
            Ok(answer) => {
                let id = answer.structured.get("id").and_then(Value::as_str).map(str::to_owned);
                FinishedSession { episode: id, problems: Vec::new() }
            }
            Err(failed) => {
                FinishedSession { episode: None, problems: vec![failed.during("the session is not remembered")] }
            }
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
