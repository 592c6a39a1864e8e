//! The relevance floor: estimates how likely each retrieved memory answers the query, and drops the others.

use butler_domain::MemoryType;
use butler_domain::relevance::{Evidence, StoreStatistics, passes_floor, relevance};
use butler_store::search::{RetrievedMemory, StoreBackground, StoreInfo};

/// A retrieved memory. `relevance` is set only if the call has a relevance floor.
pub(crate) struct RatedMemory {
    pub memory: RetrievedMemory,
    pub relevance: Option<f64>,
}

/// Drops the memories below the relevance floor. Without a floor it keeps all of them.
pub(crate) fn apply_floor(
    found: Vec<RetrievedMemory>,
    stores: &[(MemoryType, StoreInfo)],
    floor: Option<f64>,
) -> Vec<RatedMemory> {
    let Some(floor) = floor else {
        return found.into_iter().map(|memory| RatedMemory { memory, relevance: None }).collect();
    };
    let estimates: Vec<f64> = found
        .iter()
        .map(|memory| {
            let store = stores.iter().find(|(kind, _)| *kind == memory.memory_type);
            let background = store.and_then(|(_, store)| store.background.as_ref());
            background.map_or(0.0, |background| estimate(background, memory))
        })
        .collect();
    let best = estimates.iter().copied().fold(0.0, f64::max);
    let kept = found.into_iter().zip(estimates).filter(|(_, estimate)| passes_floor(best, floor, *estimate));
    kept.map(|(memory, estimate)| RatedMemory { memory, relevance: Some(estimate) }).collect()
}

/// Estimates how likely a memory answers the query, from the statistics of its store.
fn estimate(background: &StoreBackground, memory: &RetrievedMemory) -> f64 {
    let StoreBackground { rows, compared, mean, deviation, terms } = background;
    let count = |term: &String| terms.as_ref()?.get(term).copied();
    let statistics = StoreStatistics {
        rows: rows.unwrap_or(0.0),
        compared: compared.unwrap_or(0.0),
        mean: mean.unwrap_or(0.0),
        deviation: deviation.unwrap_or(0.0),
    };
    let evidence = Evidence {
        similarity: memory.similarity.unwrap_or(0.0),
        query_term_counts: terms.iter().flat_map(|terms| terms.values()).copied().collect(),
        matched_term_counts: memory.matched.terms.iter().flatten().filter_map(count).collect(),
        name_count: memory.matched.named,
    };
    relevance(&statistics, &evidence)
}
