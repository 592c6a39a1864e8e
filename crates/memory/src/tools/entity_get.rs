use butler_domain::{EntityId, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::entities::EntityView;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// From entity_resolve, entity_create or a fact.
    #[schemars(with = "uuid::Uuid")]
    entity_id: Value,
}

pub struct EntityGet;

impl ToolDefinition for EntityGet {
    type Input = Input;
    type Output = EntityView;

    const NAME: &'static str = "entity_get";
    const TITLE: &'static str = "Get an entity";
    const DESCRIPTION: &'static str = "One entity by its id: its names, type and metadata. If it was merged into another \
        one, merged_into is the entity to use instead.";
    const COMMAND: Option<&'static str> = Some("butler entity get");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "entity_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<EntityView, MemoryError> {
        let id = EntityId(validate::uuid("entity_id", validate::string("entity_id", &input.entity_id)?)?);
        memory.get_entity(&call, id).await?.ok_or(MemoryError::NoEntity { id })
    }
}
