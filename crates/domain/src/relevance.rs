//! Estimates how likely a memory answers a query, on a scale that is comparable between stores.
//!
//! A cosine similarity alone is not comparable: in one store every memory is similar to the query, in another none is.
//! So the estimate relates a memory to its own store: how unusual its similarity is there, how many of the query's rare
//! words it contains, and whether the query names its subject. docs/retrieval.md explains how the constants were chosen
//! and what a relevance floor achieves.

/// Statistics of all memories that the search could return.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStatistics {
    /// Number of searchable memories.
    pub rows: f64,
    /// Number of memories whose similarity went into `mean` and `deviation`.
    pub compared: f64,
    /// Mean cosine similarity to the query.
    pub mean: f64,
    /// Standard deviation of the cosine similarity to the query.
    pub deviation: f64,
}

/// How one memory matches the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Cosine similarity to the query.
    pub similarity: f64,
    /// For each term of the query, the number of memories that contain it.
    pub query_term_counts: Vec<f64>,
    /// The same counts for the terms that this memory contains.
    pub matched_term_counts: Vec<f64>,
    /// Set if the query contains the memory's whole subject, or a name of its entity: the number of memories that share
    /// that subject or entity.
    pub name_count: Option<f64>,
}

/// The statistics of a small store are unreliable, so they are smoothed with this many memories of average similarity.
const PSEUDO_ROWS: f64 = 20.0;
const AVERAGE_MEAN: f64 = 0.20;
const AVERAGE_DEVIATION: f64 = 0.11;

/// The estimated relevance in [0, 1]. It grows with each piece of evidence and shrinks with the size of the store.
pub fn relevance(statistics: &StoreStatistics, evidence: &Evidence) -> f64 {
    let rows = statistics.rows.max(1.0);
    let (mean, deviation) = smoothed(statistics);
    let z = (evidence.similarity - mean) / deviation;
    let idf = |count: &f64| ((rows + 1.0) / (count + 0.5)).ln().max(0.0);
    let all: f64 = evidence.query_term_counts.iter().map(idf).sum();
    let covered = if all > 0.0 { evidence.matched_term_counts.iter().map(idf).sum::<f64>() / all } else { 0.0 };
    let rarest = evidence.matched_term_counts.iter().map(idf).fold(0.0, f64::max);
    // One rare word alone may be a coincidence, unless it is the whole query.
    let is_alone = evidence.matched_term_counts.len() == 1 && evidence.query_term_counts.len() > 1;
    let rarest = if is_alone { 0.0 } else { rarest };
    let rare = (rarest / ((rows + 1.0) / 1.5).ln()).clamp(0.0, 1.0);
    let by_text = logistic(1.13 * evidence.similarity + 0.90 * z + 3.13 * covered + 1.66 * rare - 2.38 - rows.ln());
    let by_name = evidence.name_count.map_or(0.0, |count| {
        // A name that half the store shares says nothing about a single memory.
        let rarity = if rows > 1.0 { 1.0 - count.max(1.0).ln() / rows.ln() } else { 1.0 };
        logistic(4.0 * (rarity - 1.0))
    });
    1.0 - (1.0 - by_text) * (1.0 - by_name)
}

/// A memory is filler if its relevance is less than this, divided by the cube root of the number of memories. Chosen on
/// LoCoMo, in stores of 25 to 7500 facts: in all of them it drops at most 2 % of the evidence and at least half of the
/// results from an unrelated store.
const FILLER: f64 = 0.0195;

/// Whether a memory of a store with so many rows almost certainly does not answer the query.
///
/// The threshold falls more slowly than the relevance, which is divided by the number of rows: of a larger store, the best
/// results are better, also for a query that it does not answer.
pub fn is_filler(relevance: f64, rows: f64) -> bool {
    relevance < FILLER / rows.max(1.0).cbrt()
}

/// Whether a memory passes the relevance floor: the best one must reach `floor`, and this one half of the best, or three
/// quarters if the query names one of them.
pub fn passes_floor(best: f64, floor: f64, names_one: bool, relevance: f64) -> bool {
    best >= floor && relevance >= best * if names_one { 0.75 } else { 0.5 }
}

/// Mean and standard deviation with `PSEUDO_ROWS` average memories added.
fn smoothed(statistics: &StoreStatistics) -> (f64, f64) {
    let n = statistics.compared.max(0.0);
    let total = n + PSEUDO_ROWS;
    let mean = (n * statistics.mean + PSEUDO_ROWS * AVERAGE_MEAN) / total;
    let spread = |mean_of: f64, deviation: f64| deviation.powi(2) + (mean_of - mean).powi(2);
    let variance = (n * spread(statistics.mean, statistics.deviation)
        + PSEUDO_ROWS * spread(AVERAGE_MEAN, AVERAGE_DEVIATION))
        / total;
    (mean, variance.sqrt().max(1e-3))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn store(rows: f64) -> StoreStatistics {
        StoreStatistics { rows, compared: rows, mean: 0.15, deviation: 0.1 }
    }

    fn evidence(similarity: f64, matched: usize) -> Evidence {
        let (query_term_counts, matched_term_counts) = (vec![1.0; 3], vec![1.0; matched]);
        Evidence { similarity, query_term_counts, matched_term_counts, name_count: None }
    }

    #[test]
    fn a_memory_with_the_words_and_the_meaning_is_relevant_and_an_unrelated_one_is_not() {
        assert!(relevance(&store(1000.0), &evidence(0.7, 3)) > 0.5);
        assert!(relevance(&store(1000.0), &evidence(0.2, 0)) < 0.01);
    }

    #[test]
    fn the_name_of_its_entity_makes_a_memory_relevant() {
        let named = |count| Evidence { name_count: Some(count), ..evidence(0.2, 0) };
        assert!(relevance(&store(1000.0), &named(1.0)) > 0.4);
        assert!(relevance(&store(1000.0), &named(900.0)) < 0.1, "a name that most memories share is not evidence");
    }

    #[test]
    fn nothing_is_kept_when_the_best_is_below_the_floor() {
        assert!(!passes_floor(0.04, 0.05, false, 0.04));
        assert!(passes_floor(0.4, 0.05, false, 0.2) && !passes_floor(0.4, 0.05, false, 0.19));
        assert!(passes_floor(0.4, 0.05, true, 0.31) && !passes_floor(0.4, 0.05, true, 0.29));
    }

    #[test]
    fn one_rare_word_of_several_is_not_enough() {
        assert!(is_filler(relevance(&store(1000.0), &evidence(0.15, 1)), 1000.0));
        assert!(!is_filler(relevance(&store(1000.0), &evidence(0.15, 2)), 1000.0));
    }

    #[test]
    fn a_near_memory_is_no_filler_in_a_large_store_and_a_far_one_is_filler_in_a_small_store() {
        let near = relevance(&store(10_000.0), &evidence(0.62, 0));
        let far = relevance(&store(50.0), &evidence(0.1, 0));
        assert!(near < 0.0015 && !is_filler(near, 10_000.0), "{near}");
        assert!(far > 0.001 && is_filler(far, 50.0), "{far}");
        assert!(is_filler(near, 50.0), "the same relevance is little in a small store");
    }

    #[test]
    fn an_empty_store_and_a_single_memory_cause_no_division_by_zero() {
        let empty = StoreStatistics { rows: 0.0, compared: 0.0, mean: 0.0, deviation: 0.0 };
        assert!(relevance(&empty, &evidence(0.9, 3)).is_finite());
        assert!(
            relevance(&StoreStatistics { rows: 1.0, ..empty }, &Evidence { name_count: Some(1.0), ..evidence(0.9, 0) })
                > 0.5
        );
    }

    proptest! {
        #[test]
        fn more_evidence_never_lowers_the_relevance(
            rows in 1.0..1e6f64, similarity in -1.0..1.0f64, more in 0.0..0.5f64, matched in 0..3usize,
        ) {
            let store = store(rows);
            let base = relevance(&store, &evidence(similarity, matched));
            prop_assert!((0.0..=1.0).contains(&base));
            prop_assert!(relevance(&store, &evidence(similarity + more, matched)) >= base);
            prop_assert!(relevance(&store, &evidence(similarity, matched + 1)) >= base);
        }
    }
}
