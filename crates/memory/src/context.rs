//! The block of memory a session starts with.

use butler_domain::context::{self, ContextBlock, ContextEpisode, ContextFact, ContextInput, ContextRule};
use butler_domain::tokens::Bpe;
use butler_domain::{Butler, EpisodeId, FactId, Maturity, MemoryType, RuleId, Scope};
use butler_store::search::{Referenced, Retrieved, RetrievedMemory};

use crate::recall::{RecallInput, compose};
use crate::search::{Hit, relevant};
use crate::{Call, Memory, MemoryError};

/// A request for context whose fields were validated.
#[derive(Debug, Clone)]
pub struct ContextRequest {
    pub trigger_prompt: String,
    pub butler: Butler,
    pub token_budget: usize,
    pub min_relevance: Option<f64>,
}

impl Memory {
    /// Two statements: one that recalls facts and rules and finds the latest episodes, and the bump of what fitted.
    pub async fn context(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
        let block = self.context_unseen(call, request).await?;
        let referenced = Referenced {
            facts: block.facts.iter().map(|id| id.0).collect(),
            rules: block.rules.iter().map(|id| id.0).collect(),
            episodes: block.episodes.iter().map(|id| id.0).collect(),
        };
        self.db().count_later(&call.tenant, referenced, call.now);
        Ok(block)
    }

    /// The same block, without counting it as a use.
    pub async fn context_unseen(&self, call: &Call, request: &ContextRequest) -> Result<ContextBlock, MemoryError> {
        let config = self.config();
        let depth = config.retrieval.depth();
        let recall = RecallInput {
            topic: request.trigger_prompt.clone(),
            // a butler's own memories, and the global ones
            scope: Some(Scope::new(request.butler.as_str()).map_err(butler_domain::Invalid::from)?),
            limit: depth,
            min_confidence: config.confidence.retrieval_threshold,
            min_relevance: request.min_relevance,
            explain: false,
        };
        let recent = if config.context.include_episodes { depth } else { 0 };
        let (Retrieved { found, recent, stores }, _) = self.retrieve(call, &recall.as_search(), recent).await?;
        let found = relevant(found, &stores, request.min_relevance);
        let (facts, rules): (Vec<RetrievedMemory>, Vec<RetrievedMemory>) =
            found.into_iter().partition(|found| found.memory_type == MemoryType::Fact);
        // two recalls: neither kind crowds the other out before the budget is shared
        let best = |found: Vec<RetrievedMemory>| {
            let mut hits = compose(found, depth, &self.weights(), call.now);
            hits.truncate(depth);
            hits
        };
        let (facts, rules) = (best(facts), best(rules));
        let input = ContextInput {
            facts: facts.iter().map(fact_line).collect(),
            rules: rules.iter().map(rule_line).collect(),
            episodes: recent.iter().map(episode_line).collect(),
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
        confidence: hit.confidence.unwrap_or(0.0),
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

/// Without a score of its own an episode counts by its age alone.
fn episode_line(found: &RetrievedMemory) -> ContextEpisode<'_> {
    ContextEpisode { id: EpisodeId(found.id), score: 0.0, created_at: found.created_at, content: &found.content }
}
