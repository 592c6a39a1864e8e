//! The reasons why a call does not return a memory, each with what would change it.

use butler_domain::{MemoryType, Scope, Timestamp};
use butler_store::injections::ServedBy;
use butler_store::standing::Standing;
use uuid::Uuid;

use super::{Outcome, Reason, ReasonCode, SEARCHED, WhyNotRequest};
use crate::Memory;
use crate::search::{Hit, Mode, SearchInput};

fn reason(code: ReasonCode, message: impl Into<String>, remedy: impl Into<String>) -> Reason {
    Reason { code, message: message.into(), remedy: remedy.into() }
}

impl Memory {
    /// The filters that exclude the memory, and whether the search by meaning cannot find it.
    pub(super) fn exclusions(
        &self,
        request: &WhyNotRequest,
        search: &SearchInput,
        standing: &Standing,
        now: Timestamp,
    ) -> Vec<Reason> {
        use ReasonCode as Code;
        if let Some(undecided) = undecided(standing, request.id) {
            return vec![undecided];
        }
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
        if standing.is_held && request.tool != ServedBy::Search {
            let message =
                "it looks like an instruction to the agent, so no context contains it and nothing is learned from it";
            reasons.push(reason(
                Code::Held,
                message,
                format!("release it in the inbox or with `butler review approve {}`", request.id),
            ));
        }
        if !standing.in_scope {
            let scope = search.scope.as_ref().map_or("", Scope::as_str);
            let covered = if is_episode { format!("{scope:?}") } else { format!("{scope:?} and \"global\"") };
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
        let is_of_another_time = search.time_filter.valid_at.is_some() || search.time_filter.as_of.is_some();
        if let Some(confidence) =
            standing.effective_confidence.filter(|left| *left < search.min_confidence && !is_of_another_time)
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

    /// The cutoff that excludes a memory which passes all filters.
    pub(super) fn missed_cut(
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

/// Why a proposal is found by no call.
fn undecided(standing: &Standing, id: Uuid) -> Option<Reason> {
    match standing.state.as_str() {
        "proposed" => {
            let remedy = format!("approve it in the inbox or with `butler review approve {id}`");
            Some(reason(ReasonCode::Proposed, "it waits for a person's approval", remedy))
        }
        "rejected" => {
            let remedy = "store it yourself, in the dashboard or with `butler remember`";
            Some(reason(ReasonCode::Rejected, "a person rejected it", remedy))
        }
        _ => None,
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
