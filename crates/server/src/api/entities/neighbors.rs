//! `GET /api/memory/entities/{id}/neighbors`: the relations around an entity.

use butler_domain::{Direction, EntityId, limits};
use butler_host::access::Right;
use butler_memory::MemoryError;
use butler_memory::entities::{Neighborhood, Neighbors};
use butler_memory::search::TimeFilterRow;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::envelope::{Single, WithHome};
use crate::api::error::ApiError;
use crate::api::facts::IdPath;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::times::TimeQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct NeighborsQuery {
    /// The butler to query. Default: all butlers.
    pub butler: Option<String>,
    /// Only these predicates, separated by commas.
    pub predicates: Option<String>,
    /// `out`, `in` or `both`. Default: `both`.
    pub direction: Option<Direction>,
    /// How many relations away, 1 to 3. Default: 1.
    #[schemars(range(min = 1, max = limits::NEIGHBOR_DEPTH))]
    pub depth: Option<usize>,
    /// Maximum number of relations, nearest first. Default: 50.
    #[schemars(range(min = 1, max = limits::NEIGHBORS))]
    pub limit: Option<usize>,
    #[serde(flatten)]
    pub time: TimeQuery,
}

pub struct GetNeighbors;

impl Operation for GetNeighbors {
    type Path = IdPath;
    type Query = NeighborsQuery;
    type Body = ();
    type Answer = Single<WithHome<Neighbors>>;

    const ID: &'static str = "getNeighbors";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/entities/{id}/neighbors";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Get the relations around an entity, and the entities at their ends.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, path: IdPath, query: NeighborsQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let (ctx, id) = (&ctx, path.id);
        let whole = |number: Option<usize>, default: usize, most: usize| {
            i32::try_from(number.unwrap_or(default).clamp(1, most)).unwrap_or(i32::MAX)
        };
        let around = Neighborhood {
            entity: EntityId(id),
            predicates: query
                .predicates
                .as_deref()
                .map(|list| list.split(',').map(|name| name.trim().to_owned()).collect()),
            direction: query.direction.unwrap_or(Direction::Both),
            depth: whole(query.depth, 1, limits::NEIGHBOR_DEPTH),
            limit: whole(query.limit, 50, limits::NEIGHBORS),
            time_filter: None,
        };
        let (around, time) = (&around, &query.time);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("entity with id {id}"), |memory| async move {
                let call = ctx.call(&memory);
                let around =
                    Neighborhood { time_filter: TimeFilterRow::new(&time.read(&memory, &call)?), ..around.clone() };
                match memory.entity_neighbors(&call, &around).await {
                    Ok(neighbors) => Ok(Some(neighbors)),
                    Err(MemoryError::NoEntity { .. }) => Ok(None),
                    Err(error) => Err(error.into()),
                }
            })
            .await?;
        Ok(Single::new(WithHome { home, item }))
    }
}
