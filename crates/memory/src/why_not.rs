//! Why a call does not return a memory: the filter that excludes it or the cut that it misses, and what would change
//! that.
//!
//! The answer comes from the real call, run again without counting references. `functions/memory_standing.sql` applies
//! the filters of the search to this one memory; the ranks are those of the search itself.

mod reasons;

use butler_domain::times::TimeFilter;
use butler_domain::{Butler, Invalid, MemoryType, Scope, limits};
use butler_store::injections::ServedBy;
use butler_store::standing::{self, Filters, Standing};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::context::ContextRequest;
use crate::recall::weighed;
use crate::search::{Hit, Mode, Ranked, SearchInput, TimeFilterRow};
use crate::{Call, HOPS, Memory, MemoryError};

/// How deep the two searches are looked through for the ranks of the memory.
const SEARCHED: usize = 1000;

/// A call, and the memory that it should have returned. `None` is the default of the tool.
#[derive(Debug, Clone)]
pub struct WhyNotRequest {
    pub tool: ServedBy,
    /// The query, normalised by `butler_domain::validate::query`.
    pub query: String,
    pub id: Uuid,
    /// The types that a search covers.
    pub types: Option<Vec<MemoryType>>,
    /// For a context: the butler whose session it is.
    pub scope: Option<Scope>,
    pub mode: Option<Mode>,
    pub limit: Option<usize>,
    pub min_confidence: Option<f64>,
    pub min_relevance: Option<f64>,
    pub hops: Option<usize>,
    pub token_budget: Option<usize>,
    pub time_filter: TimeFilter,
}

/// Whether a call returns a memory, and why not.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WhyNot {
    pub tool: ServedBy,
    pub query: String,
    pub memory_type: MemoryType,
    pub id: Uuid,
    /// A short text of it.
    pub label: String,
    /// `active`, `superseded`, `expired`, `retracted`, `forgotten`, or of a proposal `proposed` or `rejected`.
    pub state: String,
    /// Whether the call returns it.
    pub served: bool,
    /// Its place among all that was ranked, from 1; in a context, its place in the block. Null if it was not ranked.
    pub rank: Option<usize>,
    /// The number of results that the call returns at most; of a context, the number of facts and rules considered.
    pub limit: usize,
    /// Its rank by meaning among the memories of its type, from 1. Null if it is not among the first `searched`.
    pub semantic_rank: Option<usize>,
    /// Its rank by words among the memories of its type, from 1. Null if it is not among the first `searched`.
    pub keyword_rank: Option<usize>,
    /// How deep the two searches were looked through for its ranks.
    pub searched: usize,
    /// Its score and the parts of it. Null if it was not ranked.
    pub hit: Option<Hit>,
    /// The last memory that was returned, whose score it would have to pass.
    pub last_served: Option<LastServed>,
    /// Empty if the call returns it.
    pub reasons: Vec<Reason>,
}

/// The memory that the call returned last.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LastServed {
    pub id: Uuid,
    pub score: f64,
}

/// Why a memory is not returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    pub code: ReasonCode,
    pub message: String,
    /// What would change that.
    pub remedy: String,
}

/// The filter that excludes a memory, or the cut that it misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The query is empty.
    Query,
    /// The call does not return memories of this type.
    Type,
    Scope,
    Superseded,
    Expired,
    Forgotten,
    /// It waits for a person's approval.
    Proposed,
    /// A person rejected it.
    Rejected,
    /// No context contains the episode, and nothing is learned from it, until a person releases it.
    Held,
    /// It is not true now, or does not fit the time that was asked for.
    Time,
    Confidence,
    /// It has no vector of the model in use, so it is not found by meaning.
    NotEmbedded,
    /// Neither search finds it.
    NoMatch,
    /// Neither search ranks it high enough to be considered.
    Candidates,
    /// `min_relevance`, or in a context `leave_out_filler`.
    Relevance,
    Limit,
    TokenBudget,
    /// A setting leaves its section out of a context.
    Setting,
}

/// What the call made of the memory.
struct Outcome {
    /// All that was ranked, best first.
    hits: Vec<Hit>,
    /// The relevance of the memory, if the floor dropped it.
    dropped: Option<f64>,
    /// The memories of the answer, in its order.
    answer: Vec<Uuid>,
    /// Of a context: whether the episode was considered.
    is_candidate: bool,
}

impl Memory {
    /// Runs the call again and says why it does not return the memory. `None` if the tenant has no such memory.
    pub async fn why_not(&self, call: &Call, request: &WhyNotRequest) -> Result<Option<WhyNot>, MemoryError> {
        let search = self.search_of(request)?;
        let Some(standing) = self.standing(call, request.id, &search).await? else { return Ok(None) };
        let outcome = self.outcome(call, request, &search).await?;
        let wide = SearchInput {
            types: vec![standing.memory_type],
            limit: SEARCHED,
            min_relevance: None,
            hops: 0,
            ..search.clone()
        };
        let wide = self.rank_search(call, &wide).await?.hits;
        let far = wide.iter().position(|hit| hit.id == request.id);
        let in_leg = |found: fn(&Hit) -> (bool, Option<usize>)| {
            far.map(|place| found(&wide[place])).and_then(|(is_found, rank)| rank.filter(|_| is_found))
        };
        let place = outcome.hits.iter().position(|hit| hit.id == request.id);
        let served = outcome.answer.iter().position(|id| *id == request.id);
        let last_served = outcome
            .hits
            .iter()
            .rfind(|hit| outcome.answer.contains(&hit.id) && hit.memory_type == standing.memory_type)
            .map(|hit| LastServed { id: hit.id, score: hit.score });
        let reasons = match served {
            Some(_) => Vec::new(),
            None => {
                let mut reasons = self.exclusions(request, &search, &standing, call.now);
                if reasons.iter().all(|reason| reason.code == ReasonCode::NotEmbedded) {
                    reasons.push(self.missed_cut(request, &search, &standing, &outcome, place, far));
                }
                reasons
            }
        };
        Ok(Some(WhyNot {
            tool: request.tool,
            query: request.query.clone(),
            memory_type: standing.memory_type,
            id: request.id,
            label: standing.label,
            state: standing.state,
            served: served.is_some(),
            rank: if request.tool == ServedBy::Context { served.or(place) } else { place }.map(|place| place + 1),
            limit: search.limit,
            semantic_rank: in_leg(|hit| (hit.info.in_semantic, hit.semantic_rank)),
            keyword_rank: in_leg(|hit| (hit.info.in_keyword, hit.keyword_rank)),
            searched: SEARCHED,
            hit: place.map(|place| outcome.hits[place].clone()),
            last_served,
            reasons,
        }))
    }

    /// The search behind the call, with the tool's own defaults.
    fn search_of(&self, request: &WhyNotRequest) -> Result<SearchInput, MemoryError> {
        let config = self.config();
        let is_search = request.tool == ServedBy::Search;
        let is_context = request.tool == ServedBy::Context;
        let scope = match &request.scope {
            None if is_context => Some(Scope::new(self.butler().as_str()).map_err(Invalid::from)?),
            scope => scope.clone(),
        };
        let mode = if is_search { config.retrieval.default_mode } else { config.retrieval.recall_mode };
        let all = || if is_search { MemoryType::ALL.to_vec() } else { vec![MemoryType::Fact, MemoryType::Rule] };
        let limit = request.limit.unwrap_or_else(|| config.retrieval.tool_limit()).min(limits::RESULTS);
        Ok(SearchInput {
            query: request.query.clone(),
            types: request.types.clone().filter(|_| is_search).unwrap_or_else(all),
            scope,
            mode: request.mode.unwrap_or(mode),
            limit: if is_context { config.retrieval.depth() } else { limit },
            min_confidence: request
                .min_confidence
                .filter(|_| !is_context)
                .unwrap_or(config.confidence.retrieval_threshold),
            min_relevance: request.min_relevance,
            hops: request.hops.unwrap_or(if is_search { 0 } else { HOPS }),
            explain: true,
            time_filter: request.time_filter.clone(),
            holding: !is_search,
        })
    }

    async fn standing(&self, call: &Call, id: Uuid, search: &SearchInput) -> Result<Option<Standing>, MemoryError> {
        let model = self.model();
        let filters = Filters {
            scope: search.scope.as_ref().map(Scope::as_str),
            at: call.now,
            time_filter: TimeFilterRow::new(&search.time_filter),
            holding: search.holding,
            model: &model.name,
            model_version: &model.version,
        };
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(standing::of(&mut conn, &call.tenant, id, &filters).await?)
    }

    /// Runs the call.
    async fn outcome(
        &self,
        call: &Call,
        request: &WhyNotRequest,
        search: &SearchInput,
    ) -> Result<Outcome, MemoryError> {
        let (ranked, answer, is_candidate) = match request.tool {
            ServedBy::Search => (self.rank_search(call, search).await?, None, false),
            ServedBy::Recall => (self.rank_recall(call, search, &self.weights()).await?, None, false),
            ServedBy::Context => {
                let built = self.build_context(call, &self.context_of(request, search)?).await?;
                let answer = built.served().into_iter().map(|(_, id, _)| id).collect();
                let is_candidate = built.episodes.iter().any(|(id, _)| *id == request.id);
                (built.ranked, Some(answer), is_candidate)
            }
        };
        let dropped = ranked.dropped.iter().find(|rated| rated.memory.id == request.id);
        let dropped = dropped.map(|rated| rated.relevance.unwrap_or(0.0));
        let ranked = Ranked { trace: Some(ranked.trace.clone().unwrap_or_default()), ..ranked };
        let hits = match request.tool {
            ServedBy::Search => ranked.explained().results,
            ServedBy::Recall | ServedBy::Context => weighed(ranked, &self.weights()).results,
        };
        let answer = answer.unwrap_or_else(|| hits.iter().take(search.limit).map(|hit| hit.id).collect());
        Ok(Outcome { hits, dropped, answer, is_candidate })
    }

    fn context_of(&self, request: &WhyNotRequest, search: &SearchInput) -> Result<ContextRequest, MemoryError> {
        let butler = request.scope.as_ref().map_or(self.butler().as_str(), Scope::as_str);
        Ok(ContextRequest {
            trigger_prompt: request.query.clone(),
            butler: Butler::new(butler).map_err(Invalid::from)?,
            token_budget: request.token_budget.unwrap_or(self.config().retrieval.context_token_budget),
            mode: search.mode,
            min_relevance: request.min_relevance,
            hops: search.hops,
            time_filter: request.time_filter.clone(),
            changes_since: None,
        })
    }
}
