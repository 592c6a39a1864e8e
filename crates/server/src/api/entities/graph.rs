//! `GET /api/memory/graph`: the entities with most relations, and the relations among them.

use butler_host::access::Right;
use butler_memory::browse::Graph;
use butler_memory::search::TimeFilterRow;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::api::envelope::{Meta, Single, WithHome};
use crate::api::error::ApiError;
use crate::api::operation::{Operation, RequestContext, Verb};
use crate::api::times::TimeQuery;

/// More entities than a person can tell apart.
const MAX_ENTITIES: i64 = 2000;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct GraphQuery {
    /// The butler to show. Default: the first one that has relations.
    butler: Option<String>,
    /// Only relations with these predicates, separated by commas.
    predicates: Option<String>,
    /// Maximum number of entities, those with most relations first. Default: 2000.
    #[schemars(range(min = 1, max = 2000))]
    limit: Option<i64>,
    #[serde(flatten)]
    time: TimeQuery,
}

pub struct GetGraph;

impl Operation for GetGraph {
    type Path = ();
    type Query = GraphQuery;
    type Body = ();
    type Answer = Single<WithHome<Graph>>;

    const ID: &'static str = "getGraph";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/graph";
    const TAG: &'static str = "entities";
    const SUMMARY: &'static str = "Get the entities with most relations, and the relations among them.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: GraphQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let ctx = &ctx;
        let predicates: Option<Vec<String>> =
            query.predicates.as_deref().map(|list| list.split(',').map(|name| name.trim().to_owned()).collect());
        let predicates = predicates.as_deref();
        let limit = query.limit.unwrap_or(MAX_ENTITIES).clamp(1, MAX_ENTITIES);
        let time = &query.time;
        let replies = ctx
            .each(query.butler.as_deref(), |memory| async move {
                let time_filter = TimeFilterRow::new(&time.read(&memory, &ctx.call(&memory))?);
                Ok(ctx.browse(&memory).graph(predicates, limit, time_filter.as_ref()).await?)
            })
            .await?;
        let meta = Meta::new(replies.unavailable);
        let mut parts = replies.parts.into_iter();
        let first = parts.next().ok_or_else(|| ApiError::unavailable("no butler has a memory module"))?;
        let (home, item) = if first.1.predicates.is_empty() {
            parts.find(|(_, graph)| !graph.predicates.is_empty()).unwrap_or(first)
        } else {
            first
        };
        Ok(Single { data: WithHome { home, item }, meta })
    }
}
