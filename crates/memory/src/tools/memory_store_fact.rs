use butler_domain::validate;
use butler_domain::{EntityId, EpisodeId, Permanence, Scope, StoredFact};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::times::Dates;
use super::{butler, optional, optional_id};
use crate::entities::name;
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, FactInput, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Who or what it is about: "user", "Anna Berg".
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::SUBJECT_BYTES))]
    subject: Value,
    /// Which property, short, always spelled the same, and in English whatever the language: "favorite_color".
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::PREDICATE_BYTES))]
    predicate: Value,
    /// What is true: one statement, understood on its own.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::CONTENT_BYTES))]
    content: Value,
    /// 0 (noise) to 10 (must not be lost). Default: that of the superseded fact, else 5.
    #[schemars(with = "Option<f64>", range(min = 0, max = 10))]
    importance: Option<Value>,
    /// How long it stays true unconfirmed: from permanent (never decays) to ephemeral (a week). Default: that of the
    /// superseded fact, else standard.
    #[schemars(with = "Option<Permanence>")]
    permanence: Option<Value>,
    /// "global" (default), or the only butler it concerns.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
    /// Short labels.
    #[schemars(with = "Option<Vec<String>>", length(max = butler_domain::limits::TAGS), inner(length(min = 1, max = butler_domain::limits::TAG_BYTES)))]
    tags: Option<Value>,
    /// The entity it is about. Default: the one that the subject names.
    #[schemars(with = "Option<uuid::Uuid>")]
    entity_id: Option<Value>,
    /// The entity that it relates the subject to.
    #[schemars(with = "Option<uuid::Uuid>")]
    object_entity_id: Option<Value>,
    /// The name of that entity, instead of its id.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES))]
    object: Option<Value>,
    /// The episode it was learned from.
    #[schemars(with = "Option<uuid::Uuid>")]
    source_episode_id: Option<Value>,
    /// The butler that learned it. Default: this one.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    source_butler: Option<Value>,
    /// Since when it is true: "2023", "2023-03", a day or a time. In the future: a plan.
    #[schemars(with = "Option<String>")]
    valid_from: Option<Value>,
    /// From when on it is no longer true. In the past: history.
    #[schemars(with = "Option<String>")]
    valid_to: Option<Value>,
    /// When the source said it, if not now.
    #[schemars(with = "Option<String>")]
    observed_at: Option<Value>,
    /// Store it although the same was forgotten.
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

pub struct MemoryStoreFact;

impl ToolDefinition for MemoryStoreFact {
    type Input = Input;
    type Output = StoredFact;

    const NAME: &'static str = "memory_store_fact";
    const TITLE: &'static str = "Store a fact";
    const DESCRIPTION: &'static str = "Remember something that is true. It supersedes the active fact of the same \
        subject (or entity), predicate and scope; predicates such as likes keep several values. The same again \
        confirms it. Confidence fades unless confirmed. For guidance on how to act use memory_store_rule.";
    const COMMAND: Option<&'static str> = Some("butler remember fact");
    const ANNOTATIONS: Annotations = Annotations::REPLACE;
    const RIGHT: Right = Right::Write;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Store,
        text: "What is true and stays so goes into memory_store_fact; a new fact about the same subject and \
            predicate replaces the old one.",
    });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<StoredFact, MemoryError> {
        if [&input.object, &input.object_entity_id]
            .into_iter()
            .flatten()
            .filter(|value| !validate::is_omitted(value))
            .count()
            > 1
        {
            let both = validate::Invalid::new("object", "and object_entity_id are both given");
            return Err(both.hint("give the id if you know it, else the name").into());
        }
        let fact = FactInput {
            subject: validate::subject(validate::string("subject", &input.subject)?)?,
            predicate: validate::predicate(validate::string("predicate", &input.predicate)?)?,
            content: validate::content(validate::string("content", &input.content)?)?,
            importance: optional(input.importance.as_ref(), validate::importance)?,
            permanence: optional(input.permanence.as_ref(), |value| {
                validate::one_of("permanence", validate::string("permanence", value)?)
            })?,
            scope: optional(input.scope.as_ref(), |value| Ok(Scope::new(validate::string("scope", value)?)?))?
                .unwrap_or_default(),
            tags: optional(input.tags.as_ref(), validate::tags)?,
            entity_id: optional_id("entity_id", input.entity_id.as_ref())?.map(EntityId),
            object_entity_id: optional_id("object_entity_id", input.object_entity_id.as_ref())?.map(EntityId),
            object: optional(input.object.as_ref().filter(|value| !validate::is_omitted(value)), |value| {
                name("object", value)
            })?,
            source_episode_id: optional_id("source_episode_id", input.source_episode_id.as_ref())?.map(EpisodeId),
            source_butler: optional(input.source_butler.as_ref(), butler)?,
            dates: Dates { valid_from: &input.valid_from, valid_to: &input.valid_to, observed_at: &input.observed_at }
                .read(memory, call.now)?,
            override_tombstone: optional(input.override_tombstone.as_ref(), |value| {
                validate::flag("override_tombstone", value)
            })?
            .unwrap_or_default(),
            metadata: validate::metadata(&input.metadata.unwrap_or_default())?,
        };
        memory.store_fact(&call, fact).await
    }
}
