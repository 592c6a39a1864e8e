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
    /// Whose memory. Default: "default"; with a token, the token's tenant.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    #[serde(rename = "tenant_id")]
    _tenant_id: Option<Value>,
    /// Other names it is called by, at most 64.
    #[schemars(with = "Option<Vec<String>>", length(max = butler_domain::limits::ALIASES), inner(length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES)))]
    aliases: Option<Value>,
    /// Anything else to keep with it, as an object of at most 64 KiB. Statements about it belong into facts.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    metadata: Option<Value>,
}

pub struct EntityCreate;

impl ToolDefinition for EntityCreate {
    type Input = Input;
    type Output = EntityView;

    const NAME: &'static str = "entity_create";
    const TITLE: &'static str = "Create an entity";
    const DESCRIPTION: &'static str = "Create an entity for a person, organization, place or other thing. Facts can then refer \
        to it (entity_id of memory_store_fact) regardless of how its name is spelled. Call entity_resolve first: creating a \
        second entity with the same name and type is an error that names the existing one.";
    const COMMAND: Option<&'static str> = Some("butler entity create");
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
