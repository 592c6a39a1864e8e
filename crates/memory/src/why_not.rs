//! Why a call does not return a memory: the filter that excludes it or the cut that it misses, and what would change
//! that.
//!
//! The answer comes from the real call, run again without counting references. `functions/memory_standing.sql` applies
//! the filters of the search to this one memory; the ranks are those of the search itself.

use butler_domain::times::Asked;
use butler_domain::{Butler, Invalid, MemoryType, Scope, Timestamp, limits};
use butler_store::injections::ServedBy;
use butler_store::standing::{self, Filters, Standing};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::context::ContextRequest;
use crate::recall::weighed;
use crate::search::{AskedTime, Hit, Mode, Ranked, SearchInput};
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
    pub asked: Asked,
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
    /// `active`, `superseded`, `expired`, `retracted` or `forgotten`.
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

fn reason(code: ReasonCode, message: impl Into<String>, remedy: impl Into<String>) -> Reason {
    Reason { code, message: message.into(), remedy: remedy.into() }
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
            asked: request.asked.clone(),
            holding: !is_search,
        })
    }

    async fn standing(&self, call: &Call, id: Uuid, search: &SearchInput) -> Result<Option<Standing>, MemoryError> {
        let model = self.model();
        let filters = Filters {
            scope: search.scope.as_ref().map(Scope::as_str),
            at: call.now,
            asked: AskedTime::new(&search.asked),
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
            asked: request.asked.clone(),
            changes_since: None,
        })
    }

    /// The filters that exclude the memory, and whether the search by meaning cannot find it.
    fn exclusions(
        &self,
        request: &WhyNotRequest,
        search: &SearchInput,
        standing: &Standing,
        now: Timestamp,
    ) -> Vec<Reason> {
        use ReasonCode as Code;
        let mut reasons = Vec::new();
        let kind = standing.memory_type;
        let is_episode = kind == MemoryType::Episode;
        let takes_episodes = request.tool == ServedBy::Context && self.config().context.include_episodes;
        if search.query.is_empty() && !(is_episode && takes_episodes) {
            reasons.push(reason(Code::Query, "the query is empty, and an empty query finds nothing", "give a query"));
        }
        if request.tool == ServedBy::Context && is_episode && !takes_episodes {
            let remedy = "set include_episodes = true in [modules.memory.context]";
            reasons.push(reason(
                Code::Setting,
                "the setting include_episodes leaves episodes out of a context",
                remedy,
            ));
        } else if !search.types.contains(&kind) && !takes_episodes {
            let remedy =
                if is_episode { "memory_search and memory_context return episodes" } else { "add the type to types" };
            reasons.push(reason(Code::Type, format!("this call returns no {kind}s"), remedy));
        }
        if !standing.in_scope {
            let asked = search.scope.as_ref().map_or("", Scope::as_str);
            let covered = if is_episode { format!("{asked:?}") } else { format!("{asked:?} and \"global\"") };
            let message = format!("it belongs to {:?}, and the call covers {covered}", standing.scope);
            reasons.push(reason(
                Code::Scope,
                message,
                format!("ask with scope {:?}, or leave the scope out", standing.scope),
            ));
        }
        if !standing.is_live {
            reasons.push(ended(standing));
        }
        reasons.extend(outside_time(standing, now));
        let is_of_another_time = search.asked.valid_at.is_some() || search.asked.as_of.is_some();
        if let Some(confidence) =
            standing.confidence.filter(|left| *left < search.min_confidence && !is_of_another_time)
        {
            let message = format!("its confidence has decayed to {confidence:.3}, below {}", search.min_confidence);
            reasons.push(reason(Code::Confidence, message, "confirm it, or ask with a lower min_confidence"));
        }
        let is_embedded = standing.is_embedded && standing.is_of_model == Some(true);
        if search.mode != Mode::Keyword && !is_embedded {
            let what = if standing.is_embedded { "its vector is of another model" } else { "it has no vector" };
            let message = format!("{what}, so only its words can be found");
            reasons.push(reason(Code::NotEmbedded, message, "run `butler jobs run reembed`"));
        }
        reasons
    }

    /// The cut that a memory misses which no filter excludes.
    fn missed_cut(
        &self,
        request: &WhyNotRequest,
        search: &SearchInput,
        standing: &Standing,
        outcome: &Outcome,
        place: Option<usize>,
        far: Option<usize>,
    ) -> Reason {
        use ReasonCode as Code;
        let limit = search.limit;
        let in_context = request.tool == ServedBy::Context;
        if let Some(relevance) = outcome.dropped {
            let (floor, remedy) = match search.min_relevance {
                Some(least) => (format!("min_relevance {least}"), "ask with a lower min_relevance, or leave it out"),
                None => ("leave_out_filler".to_owned(), "set leave_out_filler = false in [modules.memory.context]"),
            };
            let message = format!("the probability that it answers the query is {relevance:.3}; {floor} drops it");
            return reason(Code::Relevance, message, remedy);
        }
        if in_context && (outcome.is_candidate || place.is_some_and(|place| place < limit)) {
            return self.no_room(standing.memory_type);
        }
        if in_context && standing.memory_type == MemoryType::Episode {
            let message =
                "a context considers the episodes most relevant to the prompt, their neighbours and the latest";
            return reason(Code::Candidates, message, "use its own words, or memory_search, which ranks all episodes");
        }
        if let Some(place) = place {
            let behind = outcome.hits.get(limit.saturating_sub(1)).filter(|_| limit > 0);
            let needs = match behind.and_then(|last| lacks_most(&outcome.hits[place], last)) {
                Some(part) => format!("; its score lacks {part} most"),
                None => String::new(),
            };
            let message = format!("it is number {} of what was ranked, and the limit is {limit}{needs}", place + 1);
            let remedy = match in_context {
                true => format!("raise [modules.memory.retrieval] default_limit to at least {}", place + 1),
                false => format!("ask with a limit of at least {}, or use more of its own words", place + 1),
            };
            return reason(Code::Limit, message, remedy);
        }
        match far {
            Some(far) => {
                let message = format!(
                    "it is number {} of its type for this query; each search passes on its best {limit}",
                    far + 1
                );
                reason(Code::Candidates, message, "use more of its own words, or a higher limit")
            }
            None => {
                let message =
                    format!("it shares no word with the query, and {SEARCHED} memories are nearer in meaning");
                reason(Code::NoMatch, message, "use its own words, or name the person or thing that it is about")
            }
        }
    }

    fn no_room(&self, memory_type: MemoryType) -> Reason {
        let quotas = &self.config().context.quotas;
        let (section, share) = match memory_type {
            MemoryType::Fact => ("facts", quotas.facts),
            MemoryType::Rule => ("rules", quotas.rules),
            MemoryType::Episode => ("episodes", quotas.episodes),
        };
        if share <= 0.0 {
            let message = format!("the setting quotas.{section} = {share} leaves its section out of a context");
            return reason(ReasonCode::Setting, message, "raise it in [modules.memory.context]");
        }
        let message = "it was ranked high enough, but the lines before it use up the token budget";
        reason(ReasonCode::TokenBudget, message, format!("ask with a larger token_budget, or raise quotas.{section}"))
    }
}

/// Why a search does not find a memory in this state.
fn ended(standing: &Standing) -> Reason {
    use ReasonCode as Code;
    match (standing.state.as_str(), standing.superseded_by) {
        ("superseded", by) => {
            let by = by.map(|id| format!(" by {id}")).unwrap_or_default();
            let remedy = "restore it if the newer fact is wrong, or ask with valid_at for the time when it was true";
            reason(Code::Superseded, format!("it was superseded{by}"), remedy)
        }
        ("expired", _) if standing.memory_type == MemoryType::Episode => {
            reason(Code::Expired, "it has expired, and the next cleanup deletes it", "ask with as_of for a time before")
        }
        ("expired", _) => {
            reason(Code::Expired, "its confidence decayed until it expired", "restore it, or store it again")
        }
        ("active", _) => reason(
            Code::Time,
            "it was not known at the time that was asked for",
            "ask with a later as_of, or leave it out",
        ),
        _ => reason(Code::Forgotten, "it was forgotten", "restore it, or store it again"),
    }
}

/// Why the time excludes a memory.
fn outside_time(standing: &Standing, now: Timestamp) -> Option<Reason> {
    let (from, to) = (standing.holds_from, standing.holds_to);
    if standing.fits == Some(false) {
        return Some(reason(
            ReasonCode::Time,
            "it does not fit the time that was asked for",
            "ask about another time, or leave valid_at, as_of, since and until out",
        ));
    }
    if standing.holds != Some(false) || !standing.is_live {
        return None;
    }
    let when = |at: Timestamp| at.format("%Y-%m-%d").to_string();
    let message = match (from, to) {
        (Some(from), _) if from > now => format!("it is true only from {} on", when(from)),
        (_, Some(to)) => format!("it was true until {}", when(to)),
        _ => "it is not true now".to_owned(),
    };
    Some(reason(ReasonCode::Time, message, "ask with valid_at for the time when it is true, or correct its dates"))
}

/// The part of a recall's score by which a hit is furthest behind another.
fn lacks_most(hit: &Hit, other: &Hit) -> Option<&'static str> {
    let parts = |hit: &Hit| {
        let weighed = hit.explain.as_ref()?.weighed?;
        Some([weighed.relevance, weighed.importance, weighed.recency, weighed.confidence])
    };
    let (own, others) = (parts(hit)?, parts(other)?);
    let behind = others.iter().zip(own).map(|(other, own)| other - own);
    let names = ["relevance", "importance", "recency", "confidence"];
    let most = behind.zip(names).max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (most.0 > 0.0).then_some(most.1)
}
