//! Builds the context block that a session starts with.

use std::collections::HashSet;

use butler_domain::context::{self, ContextBlock, ContextEpisode, ContextFact, ContextInput, ContextRule};
use butler_domain::scoring::by_score;
use butler_domain::tokens::Bpe;
use butler_domain::{Butler, EpisodeId, FactId, Maturity, MemoryType, RuleId, Scope};
use butler_store::search::{Referenced, Retrieved, RetrievedMemory};

use crate::recall::{RecallInput, compose};
use crate::search::{Episodes, Floor, Hit, Mode, apply_floor};
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
}

/// How many episodes are ranked by their relevance. More would hardly fit into a block.
const RELATED: usize = 40;

impl Memory {
    /// Builds the block with one statement and counts a reference to each memory in it. The count is written later.
    pub async fn context(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
        let block = self.context_uncounted(call, request).await?;
        let referenced = Referenced {
            facts: block.facts.iter().map(|id| id.0).collect(),
            rules: block.rules.iter().map(|id| id.0).collect(),
            episodes: block.episodes.iter().map(|id| id.0).collect(),
        };
        self.db().count_later(&call.tenant, referenced, call.now);
        Ok(block)
    }

    /// Builds the same block without counting references, for people who inspect it.
    pub async fn context_uncounted(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
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
        };
        let floor = match request.min_relevance {
            Some(least) => Some(Floor::Requested(least)),
            None => config.context.leave_out_filler.then_some(Floor::Filler),
        };
        let wants_episodes = config.context.include_episodes;
        let episodes = Episodes {
            related: if wants_episodes { RELATED } else { 0 },
            recent: if wants_episodes { depth } else { 0 },
            background: floor.is_some(),
        };
        let (mut retrieved, _) = self.retrieve(call, &recall.as_search(), episodes).await?;
        let rated = apply_floor(std::mem::take(&mut retrieved.found), &retrieved.stores, floor);
        let mut hits = compose(rated, request.mode, depth, &self.weights(), call.now);
        self.place_reached(&mut hits, std::mem::take(&mut retrieved.reached), floor.is_some(), call.now);
        hits.truncate(depth);
        let (facts, rules): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|hit| hit.memory_type == MemoryType::Fact);
        let input = ContextInput {
            facts: facts.iter().map(fact_line).collect(),
            rules: rules.iter().map(rule_line).collect(),
            episodes: by_priority(&retrieved).into_iter().map(episode_line).collect(),
        };
        Ok(context::assemble(&input, request.token_budget, &config.context.quotas, &Bpe))
    }
}

fn fact_line(hit: &Hit) -> ContextFact<'_> {
    ContextFact {
        id: FactId(hit.id),
        score: hit.score,
        created_at: hit.created_at,
        subject: hit.subject.as_deref().unwrap_or_default(),
        predicate: hit.predicate.as_deref().unwrap_or_default(),
        content: &hit.content,
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
    ContextEpisode { id: EpisodeId(episode.id), created_at: episode.created_at, content: &episode.content }
}
