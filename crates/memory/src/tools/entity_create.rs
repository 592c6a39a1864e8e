use butler_domain::{EntityType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::entities::{EntityInput, EntityView, aliases, name};
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The name it is known by, for example "Chloe Martin". At most 512 bytes.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES))]
    canonical_name: Value,
    /// What kind of thing it is.
    #[schemars(with = "EntityType")]
    entity_type: Value,
    /// Whose memory. "default" if left out; with a token it is the token's.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    #[serde(rename = "tenant_id")]
    _tenant_id: Option<Value>,
    /// Other names it is called by, at most 64.
    #[schemars(with = "Option<Vec<String>>", length(max = butler_domain::limits::ALIASES), inner(length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES)))]
    aliases: Option<Value>,
    /// Anything else worth keeping with it, as an object of at most 64 KiB. What is true about it belongs into facts.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    metadata: Option<Value>,
}

pub struct EntityCreate;

impl ToolDefinition for EntityCreate {
    type Input = Input;
    type Output = EntityView;

    const NAME: &'static str = "entity_create";
    const TITLE: &'static str = "Create an entity";
    const DESCRIPTION: &'static str = "Make a person, organization, place or other thing known, so that facts can hang on \
        it (entity_id of memory_store_fact) however its name is spelled. Ask entity_resolve first: a second entity of the \
        same name and type is refused, and the error names the one that exists.";
    const ANNOTATIONS: Annotations = Annotations::ADD;
    const RIGHT: Right = Right::Write;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("name", "canonical_name"), ("type", "entity_type")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<EntityView, MemoryError> {
        let entity = EntityInput {
            canonical_name: name("canonical_name", &input.canonical_name)?,
            entity_type: validate::one_of("entity_type", validate::string("entity_type", &input.entity_type)?)?,
            aliases: aliases(&input.aliases.unwrap_or_default(), butler_domain::limits::ALIASES)?,
            metadata: validate::metadata(&input.metadata.unwrap_or_default())?,
        };
        memory.create_entity(&call, entity).await
    }
}
