//! How results came about: for `explain`, and for telling what is relevant at all.

use std::collections::BTreeMap;
use std::time::Duration;

use butler_domain::MemoryType;
use butler_domain::relevance::{Background, Evidence, keeps, relevance};
use butler_domain::scoring::ScoreWeights;
use butler_store::search::Found;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

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

    pub(crate) fn explain(&mut self, hits: &mut [Hit], stores: &[(MemoryType, Value)]) {
        for (kind, info) in stores {
            let mut info = info.clone();
            if let Some(map) = info.as_object_mut() {
                // the frequent terms of the store are long, and nobody's question
                map.remove("terms");
            }
            self.stores.insert(kind.as_str().to_owned(), info);
        }
        for hit in hits {
            hit.explain = Some(Explained::of(hit));
        }
    }
}

impl Explained {
    fn of(hit: &Hit) -> Self {
        let text = |key: &str| hit.info.get(key).and_then(Value::as_str).map(str::to_owned);
        let in_leg = |key: &str| hit.info.get(key).and_then(Value::as_bool).unwrap_or(false);
        Self {
            vector_path: text("vector"),
            probes: hit.info.get("probes").and_then(Value::as_i64).filter(|probes| *probes > 0),
            keyword_path: text("keyword"),
            in_semantic: in_leg("in_semantic"),
            in_keyword: in_leg("in_keyword"),
            all_terms: hit.all_terms,
            deep: hit.info.get("deep").cloned(),
            weighed: None,
            min_relevance: hit.info.get("relevance").and_then(Value::as_f64),
        }
    }
}

/// Leaves out what is not relevant; without a floor everything stays.
pub(crate) fn relevant(found: Vec<Found>, stores: &[(MemoryType, Value)], floor: Option<f64>) -> Vec<Found> {
    let mut found = found;
    for memory in &mut found {
        let (semantic, keyword) = (memory.semantic_rank.is_some(), memory.keyword_rank.is_some());
        if let Some(info) = memory.info.as_object_mut() {
            info.insert("in_semantic".to_owned(), semantic.into());
            info.insert("in_keyword".to_owned(), keyword.into());
        }
    }
    let Some(floor) = floor else { return found };
    let rated: Vec<f64> = found.iter().map(|memory| rate(memory, stores)).collect();
    let best = rated.iter().copied().fold(0.0, f64::max);
    let kept = found.into_iter().zip(rated).filter(|(_, rated)| keeps(best, floor, *rated));
    kept.map(|(mut memory, rated)| {
        if let Some(info) = memory.info.as_object_mut() {
            info.insert("relevance".to_owned(), rated.into());
        }
        memory
    })
    .collect()
}

fn rate(memory: &Found, stores: &[(MemoryType, Value)]) -> f64 {
    let background =
        stores.iter().find(|(kind, _)| *kind == memory.memory_type).and_then(|(_, info)| info.get("background"));
    let Some(background) = background else { return 0.0 };
    let number = |key: &str| background.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let holders = |term: &str| background.get("terms").and_then(|terms| terms.get(term)).and_then(Value::as_f64);
    let matched = memory.info.get("terms").and_then(Value::as_array).into_iter().flatten();
    let all = background.get("terms").and_then(Value::as_object).into_iter().flatten();
    relevance(
        &Background {
            rows: number("rows"),
            compared: number("compared"),
            mean: number("mean"),
            deviation: number("deviation"),
        },
        &Evidence {
            similarity: memory.similarity.unwrap_or(0.0),
            terms: all.filter_map(|(_, count)| count.as_f64()).collect(),
            matched: matched.filter_map(|term| holders(term.as_str()?)).collect(),
            named: memory.info.get("named").and_then(Value::as_f64),
        },
    )
}
