use butler_domain::validate;
use butler_domain::{EpisodeId, Permanence, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{butler, optional, optional_id};
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError, RuleInput, StoredRule};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What to do, or not to do, and when: one instruction in plain words.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::CONTENT_BYTES))]
    content: Value,
    /// "global" (default), or the only butler it concerns.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
    /// Short labels.
    #[schemars(with = "Option<Vec<String>>", length(max = butler_domain::limits::TAGS), inner(length(min = 1, max = butler_domain::limits::TAG_BYTES)))]
    tags: Option<Value>,
    /// As in memory_store_fact. Default: standard.
    #[schemars(with = "Option<Permanence>")]
    permanence: Option<Value>,
    /// The episode it was learned from.
    #[schemars(with = "Option<uuid::Uuid>")]
    source_episode_id: Option<Value>,
    /// The butler that learned it. Default: this one.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    source_butler: Option<Value>,
    /// As in memory_store_fact.
    #[schemars(with = "Option<bool>")]
    override_tombstone: Option<Value>,
    /// Anything else to keep with it.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    metadata: Option<Value>,
    /// Idempotency key.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::IDEMPOTENCY_KEY_BYTES))]
    #[serde(rename = "idempotency_key")]
    _idempotency_key: Option<Value>,
}

pub struct MemoryStoreRule;

impl ToolDefinition for MemoryStoreRule {
    type Input = Input;
    type Output = StoredRule;

    const NAME: &'static str = "memory_store_rule";
    const TITLE: &'static str = "Store a rule";
    const DESCRIPTION: &'static str = "Remember how to act: guidance that should shape later sessions. It starts as a \
        candidate and earns trust through memory_mark_helpful, or loses it through memory_mark_harmful. To record \
        something that is true use memory_store_fact.";
    const COMMAND: Option<&'static str> = Some("butler remember rule");
    const ANNOTATIONS: Annotations = Annotations::ADD;
    const RIGHT: Right = Right::Write;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Store,
        text: "What works, or never does, goes into memory_store_rule as one instruction.",
    });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<StoredRule, MemoryError> {
        let rule = RuleInput {
            content: validate::content(validate::string("content", &input.content)?)?,
            scope: optional(input.scope.as_ref(), |value| Ok(Scope::new(validate::string("scope", value)?)?))?
                .unwrap_or_default(),
            permanence: optional(input.permanence.as_ref(), |value| {
                validate::one_of("permanence", validate::string("permanence", value)?)
            })?,
            tags: validate::tags(&input.tags.unwrap_or_default())?,
            source_episode_id: optional_id("source_episode_id", input.source_episode_id.as_ref())?.map(EpisodeId),
            source_butler: optional(input.source_butler.as_ref(), butler)?,
            override_tombstone: optional(input.override_tombstone.as_ref(), |value| {
                validate::flag("override_tombstone", value)
            })?
            .unwrap_or_default(),
            metadata: validate::metadata(&input.metadata.unwrap_or_default())?,
        };
        memory.store_rule(&call, rule).await
    }
}
