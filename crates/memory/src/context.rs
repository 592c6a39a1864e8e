//! Builds the context block that a session starts with.

use std::collections::{HashMap, HashSet};

use butler_domain::context::TokenCounter;
use butler_domain::context::{self, ContextBlock, ContextEpisode, ContextFact, ContextInput, ContextRule};
use butler_domain::dates::brief;
use butler_domain::scoring::by_score;
use butler_domain::times::TimeFilter;
use butler_domain::tokens::Bpe;
use butler_domain::{Butler, EpisodeId, FactId, Maturity, MemoryType, RuleId, Scope, Timestamp};
use butler_store::injections::ServedBy;
use butler_store::search::{Retrieved, RetrievedMemory};
use chrono_tz::Tz;
use uuid::Uuid;

use crate::changes::ChangesInput;
use crate::recall::{RecallInput, compose, place_among};
use crate::search::{Episodes, Floor, Floored, Hit, Mode, Ranked, apply_floor};
use crate::{Call, Memory, MemoryError};

/// A validated request for a context block.
#[derive(Debug, Clone)]
pub struct ContextRequest {
    /// The session's first prompt; the block is about its topic.
    pub trigger_prompt: String,
    /// The butler whose session it is. The block uses its memories and the global ones.
    pub butler: Butler,
    /// The maximum size of the block in tokens, headers included.
    pub token_budget: usize,
    /// The search that finds and ranks facts and rules.
    pub mode: Mode,
    /// Omits facts and rules unless one has at least this relevance, 0 to 1; see `butler_domain::relevance`. `None`:
    /// omits filler only (`context.leave_out_filler`).
    pub min_relevance: Option<f64>,
    /// How many relations to follow from the entities that the prompt names, 0 to 3.
    pub hops: usize,
    /// The period that it is about. By default, only facts that are true now are used.
    pub time_filter: TimeFilter,
    /// Adds what changed since then.
    pub changes_since: Option<Timestamp>,
}

/// How many episodes are ranked by their relevance. More would hardly fit into a block.
const RELATED: usize = 40;

impl Memory {
    /// Builds the block from one search and counts a reference to each memory in it. The count is written later.
    pub async fn context(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
        let built = self.build_context(call, request).await?;
        self.serve(call, ServedBy::Context, &request.trigger_prompt, &built.served());
        Ok(built.block)
    }

    /// Builds the same block without counting references, for people who inspect it.
    pub async fn context_uncounted(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
        Ok(self.build_context(call, request).await?.block)
    }

    pub(crate) async fn build_context(
        &self,
        call: &Call,
        request: &ContextRequest,
    ) -> Result<BuiltContext, MemoryError> {
        self.await_conflict_search(&call.tenant).await;
        let config = self.config();
        let depth = config.retrieval.depth();
        let recall = RecallInput {
            topic: request.trigger_prompt.clone(),
            // A scope includes the global memories.
            scope: Some(Scope::new(request.butler.as_str()).map_err(butler_domain::Invalid::from)?),
            mode: request.mode,
            limit: depth,
            min_confidence: config.confidence.retrieval_threshold,
            min_relevance: request.min_relevance,
            hops: request.hops,
            explain: false,
            time_filter: request.time_filter.clone(),
        };
        let floor = match request.min_relevance {
            Some(least) => Some(Floor::Requested(least)),
            None => config.context.leave_out_filler.then_some(Floor::Filler),
        };
        let wants_episodes = config.context.include_episodes;
        let episodes = Episodes {
            // The mode deep compares whole conversations, whatever the time.
            related: if wants_episodes && request.time_filter.is_empty() { RELATED } else { 0 },
            recent: if wants_episodes { depth } else { 0 },
            background: floor.is_some(),
            conflicts: true,
        };
        let search = recall.as_search();
        let words = self.time_words(call, &search).await?;
        let (mut retrieved, trace) = self.retrieve(call, &search, &words, episodes).await?;
        let Floored { kept, dropped } = apply_floor(std::mem::take(&mut retrieved.found), &retrieved.stores, floor);
        let weights = self.weights();
        let mut hits = compose(kept, request.mode, depth, &weights, call.now, &words);
        place_among(&mut hits, std::mem::take(&mut retrieved.reached), floor.is_some(), &weights, call.now);
        let conflicts = retrieved.stores.iter().flat_map(|(_, store)| store.conflicts.clone()).collect();
        let (facts, rules): (Vec<&Hit>, Vec<&Hit>) =
            hits.iter().take(depth).partition(|hit| hit.memory_type == MemoryType::Fact);
        let episodes = by_priority(&retrieved);
        let references = match config.context.references {
            true => {
                let ids = hits.iter().take(depth).map(|hit| hit.id).chain(episodes.iter().map(|episode| episode.id));
                self.references(call, &ids.collect::<Vec<_>>()).await?
            }
            false => HashMap::new(),
        };
        let input = ContextInput {
            conflicts,
            facts: facts.iter().map(|hit| fact_line(hit, call.now, self.zone())).collect(),
            rules: rules.iter().map(|hit| rule_line(hit)).collect(),
            episodes: episodes.iter().map(|episode| episode_line(episode)).collect(),
            references,
        };
        let changes = match request.changes_since {
            Some(since) => self.changes_section(call, request, since).await?,
            None => String::new(),
        };
        let block = self.assemble(&input, request.token_budget, &changes);
        let episodes = episodes.iter().map(|episode| (episode.id, episode.matched.fused.map(|fused| fused.score)));
        Ok(BuiltContext {
            block,
            episodes: episodes.collect(),
            ranked: Ranked { hits, dropped, stores: retrieved.stores, trace },
        })
    }

    /// The block with the section of changes, which counts towards the budget.
    fn assemble(&self, input: &ContextInput<'_>, token_budget: usize, changes: &str) -> ContextBlock {
        // The block has two limits: its tokens, and four characters for each token of the budget.
        let used = Bpe.count(changes).max(changes.chars().count().div_ceil(4));
        let left = token_budget.saturating_sub(used);
        let mut block = context::assemble(input, left, &self.config().context.quotas, &Bpe);
        if !changes.is_empty() && !block.text.is_empty() {
            block.text.push_str(changes);
            block.tokens = Bpe.count(&block.text);
        }
        block
    }
}

/// A context block and what it was chosen from.
pub(crate) struct BuiltContext {
    pub block: ContextBlock,
    /// The facts and rules. As many of them as `retrieval.default_limit` says had a chance to be in the block.
    pub ranked: Ranked,
    /// The episodes that had a chance, each with its score.
    pub episodes: Vec<(Uuid, Option<f64>)>,
}

impl BuiltContext {
    /// The memories in the block, in its order, each with its score.
    pub fn served(&self) -> Vec<(MemoryType, Uuid, Option<f64>)> {
        let score = |id: Uuid| self.ranked.hits.iter().find(|hit| hit.id == id).map(|hit| hit.score);
        let of_episode = |id: Uuid| self.episodes.iter().find(|(of, _)| *of == id).and_then(|(_, score)| *score);
        let facts = self.block.facts.iter().map(|id| (MemoryType::Fact, id.0, score(id.0)));
        let rules = self.block.rules.iter().map(|id| (MemoryType::Rule, id.0, score(id.0)));
        let episodes = self.block.episodes.iter().map(|id| (MemoryType::Episode, id.0, of_episode(id.0)));
        facts.chain(rules).chain(episodes).collect()
    }
}

impl Memory {
    /// What changed, in at most a fifth of the budget. Empty if nothing did.
    async fn changes_section(
        &self,
        call: &Call,
        request: &ContextRequest,
        since: Timestamp,
    ) -> Result<String, MemoryError> {
        let input = ChangesInput {
            since,
            until: None,
            scope: Some(Scope::new(request.butler.as_str()).map_err(butler_domain::Invalid::from)?),
            token_budget: request.token_budget / 5,
        };
        let changes = self.changes(call, &input).await?;
        let day = brief(since, None, self.zone());
        // As in the other sections, four characters a token are the most.
        let most = request.token_budget / 5 * 4;
        let mut section = format!("\n## Changes Since {day}\n");
        let heading = section.len();
        for line in changes.lines().lines() {
            if section.chars().count() + line.chars().count() >= most {
                break;
            }
            section.push_str(line);
            section.push('\n');
        }
        Ok(if section.len() > heading { section } else { String::new() })
    }
}

fn fact_line(hit: &Hit, now: Timestamp, zone: Tz) -> ContextFact<'_> {
    ContextFact {
        id: FactId(hit.id),
        score: hit.score,
        created_at: hit.created_at,
        subject: hit.subject.as_deref().unwrap_or_default(),
        predicate: hit.predicate.as_deref().unwrap_or_default(),
        content: &hit.content,
        validity: hit.info.dates.as_ref().and_then(|dates| dates.brief(now, zone)),
        effective_confidence: hit.effective_confidence.unwrap_or(0.0),
    }
}

fn rule_line(hit: &Hit) -> ContextRule<'_> {
    ContextRule {
        id: RuleId(hit.id),
        score: hit.score,
        created_at: hit.created_at,
        content: &hit.content,
        maturity: hit.maturity.as_deref().and_then(|name| name.parse().ok()).unwrap_or(Maturity::Candidate),
        effectiveness: hit.effectiveness.unwrap_or(0.0),
    }
}

/// The episodes in the order in which they are taken: the most relevant, their neighbours, then the latest.
fn by_priority(retrieved: &Retrieved) -> Vec<&RetrievedMemory> {
    let score = |episode: &RetrievedMemory| episode.matched.fused.map_or(0.0, |fused| fused.score);
    let mut related: Vec<&RetrievedMemory> = retrieved.related.iter().collect();
    related.sort_by(|a, b| by_score((score(a), a.created_at, a.id), (score(b), b.created_at, b.id)));
    let mut taken = HashSet::new();
    let all = related.into_iter().chain(&retrieved.neighbours).chain(&retrieved.recent);
    all.filter(|episode| taken.insert(episode.id)).collect()
}

fn episode_line(episode: &RetrievedMemory) -> ContextEpisode<'_> {
    ContextEpisode {
        id: EpisodeId(episode.id),
        created_at: episode.matched.occurred_at.unwrap_or(episode.created_at),
        content: &episode.content,
    }
}
