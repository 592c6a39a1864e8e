//! `GET /api/memory/why-not?q=&id=`: why a call does not return a memory, and what would change that.

use butler_domain::{MemoryType, Scope, validate};
use butler_host::access::Right;
use butler_memory::browse::ServedBy;
use butler_memory::search::Mode;
use butler_memory::{WhyNot, WhyNotRequest};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::envelope::{Single, WithHome};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::times::TimeQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WhyNotQuery {
    /// The query, as an agent would phrase it.
    q: String,
    /// The fact, rule or episode that the call should return.
    id: Uuid,
    /// Its type. Default: whichever has this id.
    #[serde(rename = "type")]
    memory_type: Option<MemoryType>,
    /// The tool that is called. Default: `recall`.
    tool: Option<ServedBy>,
    /// The butler that holds the memory. Default: whichever does.
    butler: Option<String>,
    /// The types that a search covers, separated by commas. Default: all types.
    types: Option<String>,
    /// Only this scope and the global scope; of a context, the butler whose session it is. Default: all scopes, or the butler.
    scope: Option<String>,
    /// The search that finds and ranks the candidates. Default: that of the tool.
    mode: Option<Mode>,
    /// How many relations to follow from the entities that the query names. Default: 1, of a search 0.
    #[schemars(range(min = 0, max = 3))]
    hops: Option<i64>,
    /// Maximum number of results. Default: 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Exclude memories whose effective confidence is lower. Default: the retrieval threshold.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// Return nothing unless a memory has at least this probability of being relevant.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_relevance: Option<f64>,
    /// Token budget of a context. Default: the configured budget.
    #[schemars(range(min = 1, max = 100_000))]
    token_budget: Option<i64>,
    /// Answer as the holder of this token would be answered: with its tenant, butler and rights. Requires the right `admin`.
    as_token: Option<Uuid>,
    #[serde(flatten)]
    time: TimeQuery,
}

pub struct ExplainWhyNot;

impl Operation for ExplainWhyNot {
    type Path = ();
    type Query = WhyNotQuery;
    type Body = ();
    type Answer = Single<WithHome<WhyNot>>;

    const ID: &'static str = "explainWhyNot";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/why-not";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str =
        "Explain why a call does not return a memory: its ranks, the filter or the cut, and what would change that.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: WhyNotQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let ctx = ctx.on_behalf_of(query.as_token, Self::RIGHT)?;
        let types = query.types.as_deref().map(types).transpose()?;
        let scope = query.scope.clone().map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?;
        let (ctx, query, types, scope) = (&ctx, &query, &types, &scope);
        let number = |given: Option<i64>| given.map(|number| number.unsigned_abs() as usize);
        let what = query.memory_type.map_or("memory", MemoryType::as_str);
        let (home, item) = ctx
            .find(query.butler.as_deref(), &format!("{what} with id {}", query.id), |memory| async move {
                let call = ctx.call(&memory);
                let request = WhyNotRequest {
                    tool: query.tool.unwrap_or(ServedBy::Recall),
                    query: validate::query(&query.q).0,
                    id: query.id,
                    types: types.clone(),
                    scope: scope.clone(),
                    mode: query.mode,
                    limit: number(query.limit),
                    min_confidence: query.min_confidence,
                    min_relevance: query.min_relevance,
                    hops: number(query.hops),
                    token_budget: number(query.token_budget),
                    time_filter: query.time.read(&memory, &call)?,
                };
                let told = memory.why_not(&call, &request).await?;
                Ok(told.filter(|told| query.memory_type.is_none_or(|wanted| wanted == told.memory_type)))
            })
            .await?;
        Ok(Single::new(WithHome { home, item }))
    }
}

fn types(text: &str) -> Result<Vec<MemoryType>, ApiError> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| validate::one_of("types", name).map_err(ApiError::bad_parameter)).collect()
}
