//! One session with memory: context → runtime with the context injected → episode. Memory that fails or is slow is
//! reported and done without: a session never fails for it.

mod episode;
mod mcp_config;
mod memory;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session, TRIGGER_CONSOLIDATION};
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub use episode::{bounded, transcript_of};
pub use mcp_config::{Endpoint, McpConfig, SERVER_NAME};
pub use memory::{SessionMemory, Trouble};
pub use prompt::own_prompt;

/// Everything a session of one butler works with.
pub struct Flow {
    pub butler: String,
    pub memory: Arc<dyn SessionMemory>,
    pub runtime: Arc<dyn Runtime>,
    /// The butler's own system prompt.
    pub own_prompt: Option<String>,
    pub memory_timeout: Duration,
    /// How the session's program reaches this butler's tools.
    pub endpoint: Endpoint,
    /// Where its MCP configuration is written while it lasts.
    pub directory: PathBuf,
}

/// A session whose context has been read.
#[derive(Debug)]
pub struct Begun {
    pub id: Uuid,
    pub prompt: String,
    pub trigger_source: String,
    /// What memory had to say; `None`: nothing, or it did not answer.
    pub context: Option<String>,
    pub trouble: Vec<Trouble>,
}

/// A session that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The episode that was stored.
    pub episode: Option<String>,
    pub trouble: Vec<Trouble>,
}

impl Flow {
    /// Asks memory, for as long as it may take.
    pub async fn begin(&self, prompt: String, trigger_source: String) -> Begun {
        let mut trouble = Vec::new();
        let arguments = object(json!({"trigger_prompt": prompt, "butler": self.butler}));
        let answer = memory::ask(&self.memory, "memory_context", arguments, self.memory_timeout).await;
        let context = match answer {
            Ok(answer) => answer.text.filter(|text| !text.trim().is_empty()),
            Err(failed) => {
                trouble.push(failed.during("the session starts without memory"));
                None
            }
        };
        Begun { id: Uuid::new_v4(), prompt, trigger_source, context, trouble }
    }

    /// Runs the session itself.
    pub async fn answer(&self, begun: &Begun) -> Result<Completion, RuntimeError> {
        // Its tools are part of its memory: without the file it still answers.
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
            ..Session::new(&begun.trigger_source, &begun.prompt)
        };
        self.runtime.complete(session).await
    }

    /// Stores the episode, unless the session was memory's own work.
    pub async fn end(&self, begun: &Begun, answer: &str) -> Ended {
        if begun.trigger_source == TRIGGER_CONSOLIDATION {
            return Ended { episode: None, trouble: Vec::new() };
        }
        let arguments = object(json!({
            "content": episode::of_exchange(&begun.prompt, answer), "butler": self.butler, "session_id": begun.id,
            "metadata": {"trigger_source": begun.trigger_source}, "idempotency_key": format!("session:{}", begun.id),
        }));
        match memory::tell(&self.memory, "memory_store_episode", arguments, self.memory_timeout).await {
            Ok(answer) => {
                let id = answer.structured.get("id").and_then(Value::as_str).map(str::to_owned);
                Ended { episode: id, trouble: Vec::new() }
            }
            Err(failed) => Ended { episode: None, trouble: vec![failed.during("the session is not remembered")] },
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
