use butler_domain::Butler;
use butler_domain::validate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::DEFAULT_IMPORTANCE;
use super::times::text;
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, EpisodeInput, Memory, MemoryError, StoredEpisode};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What happened, in plain sentences with names and dates spelled out.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::CONTENT_BYTES))]
    content: Value,
    /// The butler (agent) whose session this was, for example "health".
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    butler: Value,
    /// The session's UUID.
    #[schemars(with = "Option<uuid::Uuid>")]
    session_id: Option<Value>,
    /// 0 (noise) to 10 (must not be lost). Default: 5.
    #[schemars(with = "Option<f64>", range(min = 0, max = 10))]
    importance: Option<Value>,
    /// When it happened, if not now: "2023-03-05" or a time.
    #[schemars(with = "Option<String>")]
    occurred_at: Option<Value>,
    /// Anything else to keep with it.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    metadata: Option<Value>,
    /// Idempotency key.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::IDEMPOTENCY_KEY_BYTES))]
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<Value>,
}

pub struct MemoryStoreEpisode;

impl ToolDefinition for MemoryStoreEpisode {
    type Input = Input;
    type Output = StoredEpisode;

    const NAME: &'static str = "memory_store_episode";
    const TITLE: &'static str = "Store an episode";
    const DESCRIPTION: &'static str = "Remember what happened in a session: one observation, decision or outcome. \
        Lasting facts and rules are learned from episodes in the background. For what is known to be true use \
        memory_store_fact, for guidance memory_store_rule.";
    const COMMAND: Option<&'static str> = Some("butler remember episode");
    const ANNOTATIONS: Annotations = Annotations::ADD;
    const RIGHT: Right = Right::Write;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Store,
        text: "When something worth keeping happened (a decision, a preference, an outcome), store it with \
            memory_store_episode: one event each, in a full sentence that can be understood later without this \
            conversation.",
    });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<StoredEpisode, MemoryError> {
        let episode = EpisodeInput {
            content: validate::content(validate::string("content", &input.content)?)?,
            butler: Butler::new(validate::string("butler", &input.butler)?).map_err(validate::Invalid::from)?,
            session_id: input.session_id.as_ref().map_or(Ok(None), validate::session_id)?,
            importance: input.importance.as_ref().map_or(Ok(DEFAULT_IMPORTANCE), validate::importance)?,
            occurred_at: memory.occurred(call.now, text("occurred_at", &input.occurred_at)?.as_deref())?,
            metadata: validate::metadata(&input.metadata.unwrap_or_default())?,
        };
        memory.store_episode(&call, episode).await
    }
}
