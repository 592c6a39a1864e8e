use butler_domain::{EntityId, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::entities::UnmergedEntities;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The entity that was merged away.
    #[schemars(with = "uuid::Uuid")]
    entity_id: Value,
}

pub struct EntityUnmerge;

impl ToolDefinition for EntityUnmerge {
    type Input = Input;
    type Output = UnmergedEntities;

    const NAME: &'static str = "entity_unmerge";
    const TITLE: &'static str = "Undo a merge";
    const DESCRIPTION: &'static str = "Undo entity_merge: the merged entity gets back its facts, relations and names, and \
        facts that the merge superseded are active again. What was stored since stays with the target, unless its subject is \
        a name that only the merged entity has.";
    const COMMAND: Option<&'static str> = Some("butler entity unmerge");
    const ANNOTATIONS: Annotations = Annotations::REPLACE;
    const RIGHT: Right = Right::Write;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "entity_id"), ("source_entity_id", "entity_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<UnmergedEntities, MemoryError> {
        let id = EntityId(validate::uuid("entity_id", validate::string("entity_id", &input.entity_id)?)?);
        memory.unmerge_entity(&call, id).await
    }
}
