use butler_domain::{EntityId, EntityType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use crate::entities::{EntityChanges, EntityView, aliases, name};
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// From entity_resolve, entity_create or a fact.
    #[schemars(with = "uuid::Uuid")]
    entity_id: Value,
    /// Replaces the name. At most 512 bytes.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES))]
    canonical_name: Option<Value>,
    /// Replaces the type.
    #[schemars(with = "Option<EntityType>")]
    entity_type: Option<Value>,
    /// Replaces all aliases: give the full list, at most 64, or as many as it already has after merges.
    #[schemars(with = "Option<Vec<String>>", length(max = butler_domain::limits::MERGED_ALIASES), inner(length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES)))]
    aliases: Option<Value>,
    /// These keys are merged into the metadata; other keys stay.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    metadata: Option<Value>,
}

pub struct EntityUpdate;

impl ToolDefinition for EntityUpdate {
    type Input = Input;
    type Output = EntityView;

    const NAME: &'static str = "entity_update";
    const TITLE: &'static str = "Update an entity";
    const DESCRIPTION: &'static str = "Change an entity's name, type, aliases or metadata. A list of aliases replaces all existing \
        ones; metadata keys are merged into the existing metadata. Omitted fields keep their values.";
    const COMMAND: Option<&'static str> = Some("butler entity update");
    const ANNOTATIONS: Annotations = Annotations { destructive: true, ..Annotations::SETTLE };
    const RIGHT: Right = Right::Write;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "entity_id"), ("name", "canonical_name")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<EntityView, MemoryError> {
        let id = EntityId(validate::uuid("entity_id", validate::string("entity_id", &input.entity_id)?)?);
        let changes = EntityChanges {
            canonical_name: optional(input.canonical_name.as_ref(), |value| name("canonical_name", value))?,
            entity_type: optional(input.entity_type.as_ref(), |value| {
                validate::one_of("entity_type", validate::string("entity_type", value)?)
            })?,
            aliases: optional(input.aliases.as_ref(), |value| aliases(value, butler_domain::limits::MERGED_ALIASES))?,
            metadata: optional(input.metadata.as_ref(), validate::metadata)?,
        };
        memory.update_entity(&call, id, changes).await
    }
}
