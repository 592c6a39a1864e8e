//! The relevance floor: estimates how likely each retrieved memory answers the query, and drops the others.

use butler_domain::MemoryType;
use butler_domain::relevance::{Evidence, StoreStatistics, is_filler, passes_floor, relevance};
use butler_store::search::{RetrievedMemory, StoreBackground, StoreInfo};

/// A retrieved memory. `relevance` is set only if the call has a relevance floor.
pub(crate) struct RatedMemory {
    pub memory: RetrievedMemory,
    pub relevance: Option<f64>,
}

/// Which memories are dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Floor {
    /// All memories if even the best is below this relevance; otherwise those clearly less relevant than the best.
    Requested(f64),
    /// Those that almost certainly do not answer the query (`context.leave_out_filler`).
    Filler,
}

/// What the relevance floor made of the retrieved memories.
pub(crate) struct Floored {
    pub kept: Vec<RatedMemory>,
    pub dropped: Vec<RatedMemory>,
}

/// Drops the memories below the relevance floor. Without a floor it keeps all of them.
pub(crate) fn apply_floor(
    found: Vec<RetrievedMemory>,
    stores: &[(MemoryType, StoreInfo)],
    floor: Option<Floor>,
) -> Floored {
    let Some(floor) = floor else {
        let kept = found.into_iter().map(|memory| RatedMemory { memory, relevance: None }).collect();
        return Floored { kept, dropped: Vec::new() };
    };
    let estimates: Vec<f64> = found
        .iter()
        .map(|memory| background_of(stores, memory).map_or(0.0, |background| estimate(background, memory)))
        .collect();
    let best = estimates.iter().copied().fold(0.0, f64::max);
    let names_one = found.iter().any(|memory| memory.matched.sharing.is_some());
    let mut floored = Floored { kept: Vec::new(), dropped: Vec::new() };
    for (memory, estimate) in found.into_iter().zip(estimates) {
        let passes = match floor {
            Floor::Requested(least) => passes_floor(best, least, names_one, estimate),
            Floor::Filler => {
                let rows = background_of(stores, &memory).and_then(|background| background.rows);
                !is_filler(estimate, rows.unwrap_or(0.0))
            }
        };
        let side = if passes { &mut floored.kept } else { &mut floored.dropped };
        side.push(RatedMemory { memory, relevance: Some(estimate) });
    }
    floored
}

/// What is known about the memories of the same type.
fn background_of<'a>(stores: &'a [(MemoryType, StoreInfo)], memory: &RetrievedMemory) -> Option<&'a StoreBackground> {
    let (_, store) = stores.iter().find(|(kind, _)| *kind == memory.memory_type)?;
    store.background.as_ref()
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
        name_count: memory.matched.sharing,
    };
    relevance(&statistics, &evidence)
}
