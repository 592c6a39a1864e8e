//! The output of `explain`: how a call and each of its results came about.

use std::collections::BTreeMap;
use std::time::Duration;

use butler_domain::MemoryType;
use butler_domain::phrases::Understood;
use butler_domain::scoring::ScoreWeights;
use butler_store::search::{FusedScore, Reached, StoreInfo};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Hit, Mode};

/// How the call was executed. Fields that do not apply are null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Trace {
    pub mode: Option<Mode>,
    /// Milliseconds for embedding the query; close to 0 if the embedding was cached.
    pub embed_ms: f64,
    /// Milliseconds for the SQL statement, including the round trip.
    pub database_ms: f64,
    /// For each type searched: the searchable `rows` out of `total` in the table, and the `ms` spent in the database.
    pub stores: BTreeMap<String, StoreInfo>,
    pub weights: Option<Weights>,
    /// The time that the query's words ask about, and words of time that were not understood.
    pub time: Understood,
}

/// The weights of the four parts of a recall's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Weights {
    pub relevance: f64,
    pub importance: f64,
    pub recency: f64,
    pub confidence: f64,
}

impl From<&ScoreWeights> for Weights {
    fn from(weights: &ScoreWeights) -> Self {
        let ScoreWeights { relevance, importance, recency, confidence } = *weights;
        Self { relevance, importance, recency, confidence }
    }
}

/// How a result was found and scored. Fields that do not apply are null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explained {
    /// `exact` for a full comparison, or `ann` for the approximate index. A suffix `+all` means that too few rows
    /// passed the filters, so every row was compared.
    pub vector_path: Option<String>,
    /// The index lists that were probed, with `ann` only.
    pub probes: Option<i64>,
    /// `scan`, `index`, or `newest` for terms that most memories contain; `+names` if the query names an entity.
    pub keyword_path: Option<String>,
    /// Whether the semantic search found it.
    pub in_semantic: bool,
    /// Whether the keyword search found it.
    pub in_keyword: bool,
    /// Whether it contains every term of the query.
    pub all_terms: bool,
    /// The rarity of the query's terms that it contains, divided by its length: the order of the keyword search.
    pub keyword_score: Option<f64>,
    /// Whether the query names its subject or object.
    pub named: Option<bool>,
    /// If relations lead to it from an entity that the query names: their number (hops), the last of them (via, a fact), and
    /// how well they match the query together (score).
    pub reached: Option<Reached>,
    /// The parts of a fused or deep score.
    pub parts: Option<FusedScore>,
    /// Each part of a recall's score, multiplied by its weight.
    pub weighed: Option<Weights>,
    /// With min_relevance: the estimated probability that the memory answers the query.
    pub min_relevance: Option<f64>,
}

impl Trace {
    pub(crate) fn timed(mode: Mode, embedding: Duration, database: Duration) -> Self {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        Self { mode: Some(mode), embed_ms: ms(embedding), database_ms: ms(database), ..Self::default() }
    }

    /// Adds the statistics of the stores, and an explanation to each hit.
    pub(crate) fn explain(&mut self, hits: &mut [Hit], stores: &[(MemoryType, StoreInfo)]) {
        for (kind, store) in stores {
            let mut store = store.clone();
            // The store's frequent terms are a long list and explain nothing about this call.
            store.pool.terms = None;
            self.stores.insert(kind.as_str().to_owned(), store);
        }
        for hit in hits {
            hit.explain = Some(Explained::of(hit));
        }
    }
}

impl Explained {
    fn of(hit: &Hit) -> Self {
        Self {
            vector_path: hit.info.vector_path.clone(),
            probes: hit.info.probes.filter(|probes| *probes > 0),
            keyword_path: hit.info.keyword_path.clone(),
            in_semantic: hit.info.in_semantic,
            in_keyword: hit.info.in_keyword,
            all_terms: hit.all_terms,
            keyword_score: hit.info.keyword_score,
            named: hit.info.named,
            reached: hit.info.reached,
            parts: hit.info.fused,
            weighed: None,
            min_relevance: hit.estimated_relevance,
        }
    }
}
