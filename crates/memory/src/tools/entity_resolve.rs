use butler_domain::resolve::Hints;
use butler_domain::{EntityType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{flag, optional};
use crate::entities::{ResolveInput, Resolved, name};
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The name to look up. Case is ignored; `%` and `_` are ordinary characters.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::ENTITY_NAME_BYTES))]
    name: Value,
    /// Whose memory. Default: "default"; with a token, the token's tenant.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    #[serde(rename = "tenant_id")]
    _tenant_id: Option<Value>,
    /// Only entities of this type.
    #[schemars(with = "Option<EntityType>")]
    entity_type: Option<Value>,
    /// What the conversation is about, to tell several of the same name apart: `topic` (text) and `mentioned_with` (names)
    /// are compared with the facts of each candidate and add up to 20; `domain_scores` (entity_id to number) is added.
    #[schemars(with = "Option<ContextHints>")]
    context_hints: Option<Value>,
    /// Also match similar names, such as misspelled ones, if the name has more than 2 characters. Default: false.
    #[schemars(with = "Option<bool>")]
    enable_fuzzy: Option<Value>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what `Hints::parse` reads")]
struct ContextHints {
    topic: Option<String>,
    mentioned_with: Option<Vec<String>>,
    domain_scores: Option<std::collections::BTreeMap<uuid::Uuid, f64>>,
}

pub struct EntityResolve;

impl ToolDefinition for EntityResolve {
    type Input = Input;
    type Output = Resolved;

    const NAME: &'static str = "entity_resolve";
    const TITLE: &'static str = "Resolve a name to entities";
    const DESCRIPTION: &'static str = "Find the entities that a name may refer to, best first. The score depends on the match: \
        canonical name (100), alias (80), part of a name (50), similar name with enable_fuzzy (20). context_hints change \
        it. If the list is empty, create the entity with entity_create; this tool never creates one.";
    const COMMAND: Option<&'static str> = Some("butler entity resolve");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Entities,
        text: "Before you create an entity (a person, an organization, a place), look for it with entity_resolve.",
    });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "entity_type")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Resolved, MemoryError> {
        let question = ResolveInput {
            name: name("name", &input.name)?,
            entity_type: optional(input.entity_type.as_ref(), |value| {
                validate::one_of("entity_type", validate::string("entity_type", value)?)
            })?,
            hints: Hints::parse(&input.context_hints.unwrap_or_default())?,
            enable_fuzzy: flag("enable_fuzzy", input.enable_fuzzy.as_ref())?,
        };
        memory.resolve_entity(&call, question).await
    }
}
