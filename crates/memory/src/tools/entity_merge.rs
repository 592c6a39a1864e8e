use butler_domain::{EntityId, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::entities::MergedEntities;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The duplicate, which becomes a tombstone.
    #[schemars(with = "uuid::Uuid")]
    source_entity_id: Value,
    /// The entity that remains.
    #[schemars(with = "uuid::Uuid")]
    target_entity_id: Value,
}

pub struct EntityMerge;

impl ToolDefinition for EntityMerge {
    type Input = Input;
    type Output = MergedEntities;

    const NAME: &'static str = "entity_merge";
    const TITLE: &'static str = "Merge two entities";
    const DESCRIPTION: &'static str = "Merge two entities that are the same person or thing. The source's facts, aliases, \
        name and metadata move to the target. If both have an active fact with the same scope and predicate, the one with \
        the higher confidence stays (the target's if equal) and supersedes the other. The source becomes a tombstone that \
        refers to the target. entity_unmerge undoes it.";
    const COMMAND: Option<&'static str> = Some("butler entity merge");
    const ANNOTATIONS: Annotations = Annotations::REPLACE;
    const RIGHT: Right = Right::Write;
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("source_id", "source_entity_id"), ("target_id", "target_entity_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<MergedEntities, MemoryError> {
        let id = |field, value: &Value| {
            Ok::<_, MemoryError>(EntityId(validate::uuid(field, validate::string(field, value)?)?))
        };
        let source = id("source_entity_id", &input.source_entity_id)?;
        let target = id("target_entity_id", &input.target_entity_id)?;
        memory.merge_entities(&call, source, target).await
    }
}
