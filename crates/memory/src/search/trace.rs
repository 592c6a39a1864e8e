//! How results came about: for `explain`, and for telling what is relevant at all.

use std::collections::BTreeMap;
use std::time::Duration;

use butler_domain::MemoryType;
use butler_domain::relevance::{Background, Evidence, keeps, relevance};
use butler_domain::scoring::ScoreWeights;
use butler_store::search::{RetrievedMemory, StoreBackground, StoreInfo};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Hit, Mode};

/// Of a whole call. What does not apply is null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Trace {
    pub mode: Option<Mode>,
    /// Embedding the query; nearly nothing when it was embedded before.
    pub embed_ms: f64,
    /// The one statement, with the way to the server and back.
    pub database_ms: f64,
    /// Of each type searched: `rows` that could be found, of `total` in the table; `ms` in the server.
    pub stores: BTreeMap<String, Value>,
    pub weights: Option<Weights>,
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

/// Of one result. What does not apply is null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Explained {
    /// `exact`, or `ann` for the approximate index (then with the lists probed); `+all` where too few rows passed and
    /// every row was looked at.
    pub vector_path: Option<String>,
    pub probes: Option<i64>,
    /// `scan`, `index`, or `newest` for terms that most of the store has.
    pub keyword_path: Option<String>,
    pub in_semantic: bool,
    pub in_keyword: bool,
    /// It has every term of the query.
    pub all_terms: bool,
    /// The parts of a deep score.
    pub deep: Option<Value>,
    /// Each part of a recall's score times its weight.
    pub weighed: Option<Weights>,
    /// With min_relevance: how likely the memory answers the query at all.
    pub min_relevance: Option<f64>,
}

impl Trace {
    pub(crate) fn timed(mode: Mode, embedding: Duration, database: Duration) -> Self {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        Self { mode: Some(mode), embed_ms: ms(embedding), database_ms: ms(database), ..Self::default() }
    }

    pub(crate) fn explain(&mut self, hits: &mut [Hit], stores: &[(MemoryType, StoreInfo)]) {
        for (kind, store) in stores {
            let mut store = store.clone();
            // The frequent terms of the store are many, and explain nothing about this query.
            store.pool.terms = None;
            self.stores.insert(kind.as_str().to_owned(), json!(store));
        }
        for hit in hits {
            hit.explain = Some(Explained::of(hit));
        }
    }
}

impl Explained {
    fn of(hit: &Hit) -> Self {
        let matched = &hit.matched;
        Self {
            vector_path: matched.vector_path.clone(),
            probes: matched.probes.filter(|probes| *probes > 0),
            keyword_path: matched.keyword_path.clone(),
            in_semantic: matched.in_semantic,
            in_keyword: matched.in_keyword,
            all_terms: hit.all_terms,
            deep: matched.deep.map(|deep| json!(deep)),
            weighed: None,
            min_relevance: matched.relevance,
        }
    }
}

/// Leaves out what is not relevant; without a floor everything stays.
pub(crate) fn relevant(
    found: Vec<RetrievedMemory>,
    stores: &[(MemoryType, StoreInfo)],
    floor: Option<f64>,
) -> Vec<RetrievedMemory> {
    let Some(floor) = floor else { return found };
    let rated: Vec<f64> = found.iter().map(|memory| rate(memory, stores)).collect();
    let best = rated.iter().copied().fold(0.0, f64::max);
    let kept = found.into_iter().zip(rated).filter(|(_, rated)| keeps(best, floor, *rated));
    kept.map(|(mut memory, rated)| {
        memory.matched.relevance = Some(rated);
        memory
    })
    .collect()
}

fn rate(memory: &RetrievedMemory, stores: &[(MemoryType, StoreInfo)]) -> f64 {
    let store = stores.iter().find(|(kind, _)| *kind == memory.memory_type);
    let Some(background) = store.and_then(|(_, store)| store.background.as_ref()) else { return 0.0 };
    let StoreBackground { rows, compared, mean, deviation, terms } = background;
    let holders = |term: &String| terms.as_ref().and_then(|terms| terms.get(term)).copied();
    relevance(
        &Background {
            rows: rows.unwrap_or(0.0),
            compared: compared.unwrap_or(0.0),
            mean: mean.unwrap_or(0.0),
            deviation: deviation.unwrap_or(0.0),
        },
        &Evidence {
            similarity: memory.similarity.unwrap_or(0.0),
            terms: terms.iter().flatten().map(|(_, count)| *count).collect(),
            matched: memory.matched.terms.iter().flatten().filter_map(holders).collect(),
            named: memory.matched.named,
        },
    )
}
