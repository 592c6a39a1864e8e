//! Recall: the facts and rules for a topic, ranked by relevance, importance, recency and effective confidence.

use butler_domain::MemoryType;
use butler_domain::fusion::{rank_of_rrf, relevance_of_rank};
use butler_domain::scoring::{RULE_IMPORTANCE, ScoreParts, ScoreWeights, recency};
use butler_domain::times::TimeFilter;
use butler_domain::{Scope, Timestamp};
use butler_store::injections::ServedBy;
use butler_store::search::{Retrieved, RetrievedMemory};

use crate::search::{
    Episodes, Floor, Floored, Hit, Mode, Ranked, RatedMemory, SearchInput, SearchOutput, TimeWords, Weights,
    apply_floor, place_reached, score,
};
use crate::{Call, Memory, MemoryError};

/// How many relations a recall or context follows unless the caller says otherwise.
pub const HOPS: usize = 1;

/// The validated arguments of a recall.
#[derive(Debug, Clone)]
pub struct RecallInput {
    pub topic: String,
    /// This scope and `global`; `None` means all scopes.
    pub scope: Option<Scope>,
    /// The search that finds and ranks the candidates.
    pub mode: Mode,
    /// The maximum number of results.
    pub limit: usize,
    /// The minimum effective confidence, 0 to 1.
    pub min_confidence: f64,
    /// Returns nothing unless a memory has at least this relevance, 0 to 1; see `butler_domain::relevance`.
    pub min_relevance: Option<f64>,
    /// How many relations to follow from the entities that the topic names, 0 to 3.
    pub hops: usize,
    /// Whether to return a trace and an explanation of each result.
    pub explain: bool,
    /// The period that it is about. By default, only facts that are true now are returned.
    pub time_filter: TimeFilter,
}

impl RecallInput {
    pub(crate) fn as_search(&self) -> SearchInput {
        SearchInput {
            query: self.topic.clone(),
            types: vec![MemoryType::Fact, MemoryType::Rule],
            scope: self.scope.clone(),
            mode: self.mode,
            limit: self.limit,
            min_confidence: self.min_confidence,
            min_relevance: self.min_relevance,
            hops: self.hops,
            explain: self.explain,
            time_filter: self.time_filter.clone(),
            holding: true,
        }
    }
}

impl Memory {
    /// Finds the memories that match and counts a reference to each result. The count is written later, so the caller does not
    /// wait for it.
    pub async fn recall(&self, call: &Call, input: &RecallInput) -> Result<SearchOutput, MemoryError> {
        let output = self.recall_uncounted(call, input).await?;
        self.serve_hits(call, ServedBy::Recall, &input.topic, &output.results);
        Ok(output)
    }

    /// Returns the same results without counting references, for people who inspect how recall works.
    pub async fn recall_uncounted(&self, call: &Call, input: &RecallInput) -> Result<SearchOutput, MemoryError> {
        self.recall_weighed(call, input, &self.weights()).await
    }

    /// As [`Self::recall_uncounted`], with other weights than the configured ones, to compare the two.
    pub async fn recall_weighed(
        &self,
        call: &Call,
        input: &RecallInput,
        weights: &ScoreWeights,
    ) -> Result<SearchOutput, MemoryError> {
        let mut ranked = self.rank_recall(call, &input.as_search(), weights).await?;
        ranked.hits.truncate(input.limit);
        Ok(weighed(ranked, weights))
    }

    pub(crate) async fn rank_recall(
        &self,
        call: &Call,
        search: &SearchInput,
        weights: &ScoreWeights,
    ) -> Result<Ranked, MemoryError> {
        let words = self.time_words(call, search).await?;
        let (Retrieved { found, reached, stores, .. }, trace) =
            self.retrieve(call, search, &words, Episodes::default()).await?;
        let Floored { kept, dropped } = apply_floor(found, &stores, search.min_relevance.map(Floor::Requested));
        let mut hits = compose(kept, search.mode, search.limit, weights, call.now, &words);
        place_among(&mut hits, reached, search.min_relevance.is_some(), weights, call.now);
        Ok(Ranked { hits, dropped, stores, trace })
    }

    /// The configured weights of a recall's score.
    pub fn weights(&self) -> ScoreWeights {
        self.config().retrieval.score_weights
    }
}

/// Places the facts that relations lead to among the sorted hits of a recall.
pub(crate) fn place_among(
    hits: &mut Vec<Hit>,
    reached: Vec<RetrievedMemory>,
    needs_relation: bool,
    weights: &ScoreWeights,
    now: Timestamp,
) {
    place_reached(hits, reached, needs_relation, now, |hit| hit.compose_score(weights, now));
}

/// The answer of a recall. With a trace, each hit has an explanation and the parts of its score, weighed.
pub(crate) fn weighed(ranked: Ranked, weights: &ScoreWeights) -> SearchOutput {
    let mut output = ranked.explained();
    if let Some(trace) = &mut output.trace {
        let weights = Weights::from(weights);
        trace.weights = Some(weights);
        for hit in &mut output.results {
            hit.weigh(&weights);
        }
    }
    output
}

/// Computes the composite score of each memory and sorts by it.
pub(crate) fn compose(
    rated: Vec<RatedMemory>,
    mode: Mode,
    limit: usize,
    weights: &ScoreWeights,
    now: Timestamp,
    words: &TimeWords,
) -> Vec<Hit> {
    let mut hits = score(rated, mode, limit, now);
    hits.sort_by(Hit::order(mode));
    // The fused rank says more than the position: it shows whether both searches found the memory.
    let (mut facts, mut rules) = (0.0, 0.0);
    let ranks: Vec<f64> = hits
        .iter()
        .map(|hit| {
            let place = if hit.memory_type == MemoryType::Fact { &mut facts } else { &mut rules };
            *place += 1.0;
            hit.rrf_score.map_or(*place, rank_of_rrf)
        })
        .collect();
    let few_from = (ranks.len() <= limit).then(|| ranks.iter().copied().fold(f64::INFINITY, f64::min));
    for (hit, rank) in hits.iter_mut().zip(ranks) {
        hit.compose(relevance_of_rank(rank, few_from, limit), weights, now);
    }
    words.boost(&mut hits);
    hits.sort_by(Hit::order_by_score);
    hits
}

impl Hit {
    fn compose(&mut self, relevance: f64, weights: &ScoreWeights, now: Timestamp) {
        let importance = self.importance.unwrap_or(RULE_IMPORTANCE);
        let recency = recency(self.last_referenced_at, now);
        let parts = ScoreParts::new(relevance, importance, recency, self.effective_confidence.unwrap_or(0.0));
        self.score = parts.composite(weights);
        self.relevance = Some(parts.relevance);
        self.importance = Some(importance);
        self.recency = Some(parts.recency);
        self.confidence_part = Some(parts.effective_confidence);
    }

    /// Fills in the parts of a score that is known already. The relevance is what remains after the other parts.
    fn compose_score(&mut self, weights: &ScoreWeights, now: Timestamp) {
        let score = self.score;
        self.compose(0.0, weights, now);
        let relevance = ((score - self.score) / weights.relevance).clamp(0.0, 1.0);
        self.relevance = Some(if relevance.is_finite() { relevance } else { 0.0 });
        self.score = score;
    }

    /// Adds each part of the score, multiplied by its weight, to the explanation.
    fn weigh(&mut self, weights: &Weights) {
        let part = |value: Option<f64>| value.unwrap_or(0.0);
        let weighed = Weights {
            relevance: weights.relevance * part(self.relevance),
            importance: weights.importance * part(self.importance) / butler_domain::scoring::MAX_IMPORTANCE,
            recency: weights.recency * part(self.recency),
            confidence: weights.confidence * part(self.confidence_part),
        };
        if let Some(explain) = &mut self.explain {
            explain.weighed = Some(weighed);
        }
    }
}
