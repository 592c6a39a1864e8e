use butler_domain::{Direction, EntityId, Invalid, limits, validate};
use butler_store::entities::{Neighborhood, Neighbors};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use super::times::TimeArguments;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// From entity_resolve, entity_create or a fact.
    #[schemars(with = "uuid::Uuid")]
    entity_id: Value,
    /// Follow only these relations. Default: all.
    #[schemars(with = "Option<Vec<String>>", length(max = limits::TAGS), inner(length(min = 1, max = limits::PREDICATE_BYTES)))]
    predicates: Option<Value>,
    /// out: relations of which the entity is the subject; in: of which it is the object. Default: both.
    #[schemars(with = "Option<Direction>")]
    direction: Option<Value>,
    /// How many relations away, 1 to 3. Default: 1.
    #[schemars(with = "Option<i64>", range(min = 1, max = limits::NEIGHBOR_DEPTH))]
    depth: Option<Value>,
    /// The maximum number of relations, nearest first. Default: 50.
    #[schemars(with = "Option<i64>", range(min = 1, max = limits::NEIGHBORS))]
    limit: Option<Value>,
    /// As in memory_search.
    #[schemars(with = "Option<String>")]
    valid_at: Option<Value>,
    /// As in memory_search.
    #[schemars(with = "Option<String>")]
    as_of: Option<Value>,
    /// As in memory_search.
    #[schemars(with = "Option<String>")]
    since: Option<Value>,
    /// As in memory_search.
    #[schemars(with = "Option<String>")]
    until: Option<Value>,
}

pub struct EntityNeighbors;

impl ToolDefinition for EntityNeighbors {
    type Input = Input;
    type Output = Neighbors;

    const NAME: &'static str = "entity_neighbors";
    const TITLE: &'static str = "Follow relations";
    const DESCRIPTION: &'static str = "Who and what an entity is related to, up to three relations away: the entities, and \
        the facts that connect them. A relation with an inverse, or a symmetric one, is found from both ends.";
    const COMMAND: Option<&'static str> = Some("butler entity neighbors");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "entity_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Neighbors, MemoryError> {
        let time_filter =
            TimeArguments { valid_at: &input.valid_at, as_of: &input.as_of, since: &input.since, until: &input.until }
                .read(memory, call.now)?;
        let around = Neighborhood {
            entity: EntityId(validate::uuid("entity_id", validate::string("entity_id", &input.entity_id)?)?),
            predicates: optional(input.predicates.as_ref(), validate::predicates)?.filter(|some| !some.is_empty()),
            direction: optional(input.direction.as_ref(), |value| {
                validate::one_of("direction", validate::string("direction", value)?)
            })?
            .unwrap_or(Direction::Both),
            depth: whole("depth", input.depth.as_ref(), limits::NEIGHBOR_DEPTH)?.unwrap_or(1),
            limit: whole("limit", input.limit.as_ref(), limits::NEIGHBORS)?.unwrap_or(50),
            time_filter: butler_store::search::TimeFilterRow::new(&time_filter),
        };
        memory.entity_neighbors(&call, &around).await
    }
}

fn whole(field: &str, value: Option<&Value>, max: usize) -> Result<Option<i32>, Invalid> {
    let number = optional(value, |value| validate::whole_number(field, value, 1, max))?;
    Ok(number.map(|number| i32::try_from(number).unwrap_or(i32::MAX)))
}
