use std::cmp::Ordering;

use butler_domain::decay::effective_confidence;
use butler_domain::scoring::by_score;
use butler_domain::{MemoryType, Timestamp};
use butler_store::search::{MatchInfo, RetrievedMemory};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::trace::Explained;

/// One result: the memory, its score and what the score is made of; a part that does not apply is null. Never an embedding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Hit {
    pub memory_type: MemoryType,
    pub id: Uuid,
    pub content: String,
    /// The order of the results; how it is made depends on the mode.
    pub score: f64,
    /// What is left after decay; null for episodes, which have none.
    pub confidence: Option<f64>,
    /// 1 − cosine distance to the query.
    pub similarity: Option<f64>,
    /// ts_rank of the words.
    pub rank: Option<f64>,
    /// Place among the results by meaning; limit + 1 if not among them.
    pub semantic_rank: Option<usize>,
    /// Place among the results by words; limit + 1 if not among them.
    pub keyword_rank: Option<usize>,
    pub rrf_score: Option<f64>,
    /// Of recall: rrf_score between the worst and the best possible.
    pub relevance: Option<f64>,
    /// As stored, 0–10.
    pub importance: Option<f64>,
    /// Of recall: halves with every week since the memory was last used.
    pub recency: Option<f64>,
    pub effective_confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub butler: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<Uuid>,
    /// The entity's canonical name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maturity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effectiveness: Option<f64>,
    /// Soon forgotten unless confirmed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fading: bool,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explained>,
    /// It has all terms of the query.
    #[serde(skip)]
    pub(crate) all_terms: bool,
    #[serde(skip)]
    pub(crate) last_referenced_at: Option<Timestamp>,
    #[serde(skip)]
    pub(crate) matched: MatchInfo,
}

impl Hit {
    pub(crate) fn new(found: RetrievedMemory, now: Timestamp) -> Self {
        let effective = match (found.confidence, found.decay_rate) {
            (Some(confidence), Some(rate)) => {
                Some(effective_confidence(confidence, rate, found.last_confirmed_at, now))
            }
            _ => None,
        };
        let is_episode = found.memory_type == MemoryType::Episode;
        let (scope, butler) = if is_episode { (None, Some(found.scope)) } else { (Some(found.scope), None) };
        let deep = found.matched.deep.map(|deep| deep.score);
        Self {
            memory_type: found.memory_type,
            id: found.id,
            content: found.content,
            score: deep.unwrap_or(0.0),
            confidence: effective,
            similarity: found.similarity,
            rank: found.rank,
            semantic_rank: found.semantic_rank,
            keyword_rank: found.keyword_rank,
            rrf_score: None,
            relevance: None,
            importance: found.importance,
            recency: None,
            effective_confidence: None,
            subject: found.subject,
            predicate: found.predicate,
            scope,
            butler,
            session_id: found.session_id,
            entity_id: found.entity_id,
            entity_name: found.entity_name,
            maturity: found.maturity,
            effectiveness: found.effectiveness,
            fading: found.fading,
            created_at: found.created_at,
            explain: None,
            all_terms: found.strict,
            last_referenced_at: found.last_referenced_at,
            matched: found.matched,
        }
    }

    /// Of the library's fused list: where reciprocal ranks tie the better semantic one.
    pub(crate) fn order_by_ranks(a: &Self, b: &Self) -> Ordering {
        let by_meaning = || a.semantic_rank.cmp(&b.semantic_rank);
        b.score.total_cmp(&a.score).then_with(by_meaning).then_with(|| Self::order_by_score(a, b))
    }

    /// The order of every answer: score descending, then the newer, then the lower id.
    pub(crate) fn order_by_score(a: &Self, b: &Self) -> Ordering {
        let key = |hit: &Self| (hit.score, hit.created_at, hit.id);
        by_score(key(a), key(b))
    }
}
