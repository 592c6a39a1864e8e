//! The relevance floor: estimates how likely each retrieved memory answers the query, and drops the others.

use std::collections::BTreeMap;

use butler_domain::MemoryType;
use butler_domain::relevance::{Evidence, StoreStatistics, passes_floor, relevance};
use butler_store::search::Found;
use serde::Deserialize;
use serde_json::Value;

use super::info::MatchInfo;

/// A retrieved memory. `relevance` is set only if the call has a relevance floor.
pub(crate) struct RatedMemory {
    pub memory: Found,
    pub relevance: Option<f64>,
}

/// Drops the memories below the relevance floor. Without a floor it keeps all of them.
pub(crate) fn apply_floor(found: Vec<Found>, stores: &[(MemoryType, Value)], floor: Option<f64>) -> Vec<RatedMemory> {
    let Some(floor) = floor else {
        return found.into_iter().map(|memory| RatedMemory { memory, relevance: None }).collect();
    };
    let backgrounds: Vec<(MemoryType, Background)> =
        stores.iter().filter_map(|(kind, info)| Some((*kind, Background::parse(info)?))).collect();
    let estimates: Vec<f64> = found
        .iter()
        .map(|memory| {
            let background = backgrounds.iter().find(|(kind, _)| *kind == memory.memory_type);
            background.map_or(0.0, |(_, background)| background.relevance_of(memory))
        })
        .collect();
    let best = estimates.iter().copied().fold(0.0, f64::max);
    let kept = found.into_iter().zip(estimates).filter(|(_, estimate)| passes_floor(best, floor, *estimate));
    kept.map(|(memory, estimate)| RatedMemory { memory, relevance: Some(estimate) }).collect()
}

/// The statistics of one memory type, from the key `background` of its store's JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Background {
    rows: Option<f64>,
    compared: Option<f64>,
    mean: Option<f64>,
    deviation: Option<f64>,
    /// The number of memories that contain each term of the query.
    terms: Option<BTreeMap<String, Option<f64>>>,
}

impl Background {
    fn parse(info: &Value) -> Option<Self> {
        info.get("background").map(|background| Self::deserialize(background).unwrap_or_default())
    }

    fn relevance_of(&self, memory: &Found) -> f64 {
        let info = MatchInfo::parse(&memory.info);
        let count = |term: &String| self.terms.as_ref()?.get(term).copied().flatten();
        let statistics = StoreStatistics {
            rows: self.rows.unwrap_or(0.0),
            compared: self.compared.unwrap_or(0.0),
            mean: self.mean.unwrap_or(0.0),
            deviation: self.deviation.unwrap_or(0.0),
        };
        let evidence = Evidence {
            similarity: memory.similarity.unwrap_or(0.0),
            query_term_counts: self.terms.iter().flat_map(BTreeMap::values).copied().flatten().collect(),
            matched_term_counts: info.terms.iter().flatten().flatten().filter_map(count).collect(),
            name_count: info.named,
        };
        relevance(&statistics, &evidence)
    }
}
