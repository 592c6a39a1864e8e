//! Recall: what to know for a topic. Facts and rules by relevance, importance, recency and confidence together.

use butler_domain::MemoryType;
use butler_domain::fusion::normalised_rrf;
use butler_domain::scoring::{RULE_IMPORTANCE, ScoreParts, ScoreWeights, recency};
use butler_domain::{Scope, Timestamp};
use butler_store::search::{Referenced, Retrieved, RetrievedMemory};

use crate::search::{Hit, Mode, SearchInput, SearchOutput, Weights, relevant};
use crate::{Call, Memory, MemoryError};

/// A recall whose fields were validated.
#[derive(Debug, Clone)]
pub struct RecallInput {
    pub topic: String,
    pub scope: Option<Scope>,
    pub limit: usize,
    pub min_confidence: f64,
    pub min_relevance: Option<f64>,
    pub explain: bool,
}

impl RecallInput {
    pub(crate) fn as_search(&self) -> SearchInput {
        SearchInput {
            query: self.topic.clone(),
            types: vec![MemoryType::Fact, MemoryType::Rule],
            scope: self.scope.clone(),
            mode: Mode::Hybrid,
            limit: self.limit,
            min_confidence: self.min_confidence,
            min_relevance: self.min_relevance,
            explain: self.explain,
        }
    }
}

impl Memory {
    /// Two statements: the search, and the bump of exactly what is returned, which the answer does not wait for.
    pub async fn recall(&self, call: &Call, input: &RecallInput) -> Result<SearchOutput, MemoryError> {
        let found = self.recall_unseen(call, input).await?;
        let mut referenced = Referenced::default();
        for hit in &found.results {
            referenced.push(hit.memory_type, hit.id);
        }
        self.db().count_later(&call.tenant, referenced, call.now);
        Ok(found)
    }

    /// The same answer, without counting it as a use: for people who look how recall works.
    pub async fn recall_unseen(&self, call: &Call, input: &RecallInput) -> Result<SearchOutput, MemoryError> {
        let search = input.as_search();
        let (Retrieved { found, stores, .. }, mut trace) = self.retrieve(call, &search, 0).await?;
        let found = relevant(found, &stores, input.min_relevance);
        let mut hits = compose(found, input.limit, &self.weights(), call.now);
        hits.truncate(input.limit);
        if let Some(trace) = &mut trace {
            let weights = Weights::from(&self.weights());
            trace.explain(&mut hits, &stores);
            trace.weights = Some(weights);
            for hit in &mut hits {
                hit.weigh(&weights);
            }
        }
        Ok(SearchOutput { results: hits, trace })
    }

    pub(crate) fn weights(&self) -> ScoreWeights {
        self.config().retrieval.score_weights
    }
}

/// Each memory with its composite score, in order.
pub(crate) fn compose(found: Vec<RetrievedMemory>, limit: usize, weights: &ScoreWeights, now: Timestamp) -> Vec<Hit> {
    let mut hits: Vec<Hit> = found
        .into_iter()
        .map(|found| {
            let mut hit = Hit::new(found, now);
            hit.fuse(limit);
            hit.compose(limit, weights, now);
            hit
        })
        .collect();
    hits.sort_by(Hit::order_by_score);
    hits
}

impl Hit {
    fn compose(&mut self, limit: usize, weights: &ScoreWeights, now: Timestamp) {
        let importance = self.importance.unwrap_or(RULE_IMPORTANCE);
        let relevance = normalised_rrf(self.rrf_score.unwrap_or(0.0), limit);
        let recency = recency(self.last_referenced_at, now);
        let parts = ScoreParts::new(relevance, importance, recency, self.confidence.unwrap_or(0.0));
        self.score = parts.composite(weights);
        self.relevance = Some(parts.relevance);
        self.importance = Some(importance);
        self.recency = Some(parts.recency);
        self.effective_confidence = Some(parts.effective_confidence);
    }

    fn weigh(&mut self, weights: &Weights) {
        let part = |value: Option<f64>| value.unwrap_or(0.0);
        let weighed = Weights {
            relevance: weights.relevance * part(self.relevance),
            importance: weights.importance * part(self.importance) / butler_domain::scoring::MAX_IMPORTANCE,
            recency: weights.recency * part(self.recency),
            confidence: weights.confidence * part(self.effective_confidence),
        };
        if let Some(explain) = &mut self.explain {
            explain.weighed = Some(weighed);
        }
    }
}
