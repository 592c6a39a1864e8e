//! `GET /api/memory/recall?q=`: the query lab. Shows what an agent would get for a query, with every part of the score.

use butler_domain::scoring::ScoreWeights;
use butler_domain::{Butler, Invalid, Scope, validate};
use butler_host::access::Right;
use butler_memory::search::{Hit, Mode, Trace};
use butler_memory::{ContextRequest, Memory, RecallInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::{Meta, Single};
use super::error::ApiError;
use super::operation::{Operation, RequestContext, Verb};
use super::times::TimeQuery;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct RecallQuery {
    /// The query, as an agent would phrase it.
    q: String,
    /// The butler to query. Default: the first butler that responds.
    butler: Option<String>,
    /// Only this scope and the global scope. Default: all scopes.
    scope: Option<String>,
    /// The search that finds and ranks the candidates. Default: the configured `retrieval.recall_mode`.
    mode: Option<Mode>,
    /// How many relations to follow from the entities that the query names. Default: 1.
    #[schemars(range(min = 0, max = 3))]
    hops: Option<i64>,
    /// Maximum number of results. Default: 10.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Exclude memories whose effective confidence is lower. Default: the retrieval threshold.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// Weights of relevance, importance, recency and confidence for the results, separated by commas: `0.4,0.3,0.2,0.1`.
    /// Default: the configured `retrieval.score_weights`. The context block always uses the configured ones.
    weights: Option<String>,
    /// Token budget of the context block. Default: the configured budget.
    #[schemars(range(min = 1, max = 100_000))]
    token_budget: Option<i64>,
    /// Answer as the holder of this token would be answered: with its tenant, butler and rights. Requires the right `admin`.
    as_token: Option<Uuid>,
    #[serde(flatten)]
    time: TimeQuery,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallView {
    pub butler: String,
    pub query: String,
    /// Best first, each with its two ranks, the fused rank and the four parts of the score.
    pub results: Vec<Hit>,
    /// Weights, timings and the access path of each search.
    pub trace: Option<Trace>,
    pub context: ContextView,
}

/// The context block that a session of this butler would start with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextView {
    pub text: String,
    pub tokens: usize,
    pub token_budget: usize,
}

pub struct Recall;

impl Operation for Recall {
    type Path = ();
    type Query = RecallQuery;
    type Body = ();
    type Answer = Single<RecallView>;

    const ID: &'static str = "recallMemory";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/recall";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str =
        "Explain a recall: ranks, fusion, the parts of each score, and the exact context block.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: RecallQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let ctx = ctx.on_behalf_of(query.as_token, Self::RIGHT)?;
        let named: Vec<String> = match query.butler.clone() {
            Some(name) => vec![name],
            None => ctx.butlers(None)?.iter().map(|butler| butler.name.to_string()).collect(),
        };
        let (ctx, query) = (&ctx, &query);
        let mut unavailable = Vec::new();
        let mut last = ApiError::unavailable("no butler has a memory module");
        for name in named {
            match ctx.each(Some(&name), |memory| async move { answer(ctx, &memory, query).await }).await {
                Ok(replies) => {
                    if let Some((_, data)) = replies.parts.into_iter().next() {
                        return Ok(Single { data, meta: Meta::new(unavailable) });
                    }
                }
                // Try the next butler; the response lists this one as unavailable.
                Err(error) if error.is_unavailable() => {
                    unavailable.push(name);
                    last = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

async fn answer(ctx: &RequestContext, memory: &Memory, query: &RecallQuery) -> Result<RecallView, ApiError> {
    let config = memory.config();
    let (topic, _) = validate::query(&query.q);
    let call = ctx.call(memory);
    let mode = query.mode.unwrap_or(config.retrieval.recall_mode);
    let hops = query.hops.map_or(butler_memory::HOPS, |hops| hops.unsigned_abs() as usize);
    let time_filter = query.time.read(memory, &call)?;
    let input = RecallInput {
        topic: topic.clone(),
        scope: query.scope.clone().map(Scope::new).transpose().map_err(Invalid::from)?,
        mode,
        limit: query.limit.map_or_else(|| config.retrieval.tool_limit(), |limit| limit.unsigned_abs() as usize),
        min_confidence: query.min_confidence.unwrap_or(config.confidence.retrieval_threshold),
        min_relevance: None,
        hops,
        explain: true,
        time_filter: time_filter.clone(),
    };
    let weights = query.weights.as_deref().map(weights).transpose()?.unwrap_or_else(|| memory.weights());
    let found = memory.recall_weighed(&call, &input, &weights).await?;
    let token_budget =
        query.token_budget.map_or(config.retrieval.context_token_budget, |budget| budget.unsigned_abs() as usize);
    let request = ContextRequest {
        trigger_prompt: topic.clone(),
        butler: Butler::new(query.scope.as_deref().unwrap_or(memory.butler().as_str())).map_err(Invalid::from)?,
        token_budget,
        mode,
        min_relevance: None,
        hops,
        time_filter,
        changes_since: None,
    };
    let block = memory.context_uncounted(&call, &request).await?;
    Ok(RecallView {
        butler: memory.butler().to_string(),
        query: topic,
        results: found.results,
        trace: found.trace,
        context: ContextView { text: block.text, tokens: block.tokens, token_budget },
    })
}

fn weights(text: &str) -> Result<ScoreWeights, ApiError> {
    let bad = |reason: String| {
        let hint = "pass four numbers of at least 0, not all 0: relevance, importance, recency, confidence";
        ApiError::bad_parameter(Invalid::new("weights", reason).hint(hint))
    };
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let &[relevance, importance, recency, confidence] = &numbers[..] else {
        return Err(bad(format!("is {text:?}")));
    };
    if numbers.iter().all(|weight| *weight == 0.0) {
        return Err(bad("are all 0".to_owned()));
    }
    ScoreWeights::new(relevance, importance, recency, confidence).map_err(|error| bad(error.to_string()))
}
