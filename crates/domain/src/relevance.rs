//! How likely a memory answers a query at all, as a number that means the same in every store.
//!
//! A cosine alone does not: in one store everything is near, in another nothing. So a memory is held against its own
//! store's background: how unusual its similarity is there, how much of the query's rare words it has, and whether the
//! query names what it is about. docs/retrieval.md says how the constants were found and what a floor buys.

/// What is usual among the memories that could be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Background {
    /// How many there are.
    pub rows: f64,
    /// How many of them the two numbers below were taken over.
    pub compared: f64,
    pub mean: f64,
    pub deviation: f64,
}

/// What one memory has of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub similarity: f64,
    /// In how many memories each term of the query is.
    pub terms: Vec<f64>,
    /// The same, of the terms this memory has.
    pub matched: Vec<f64>,
    /// The query contains the memory's whole subject, or its entity's name or alias: how many memories carry it.
    pub named: Option<f64>,
}

/// A small store's own numbers say little, so it is taken to be larger by this many ordinary memories.
const PSEUDO_ROWS: f64 = 20.0;
const ORDINARY_MEAN: f64 = 0.20;
const ORDINARY_DEVIATION: f64 = 0.11;

/// In [0, 1]. Grows with each piece of evidence; an identical memory is less telling in a store of a million.
pub fn relevance(background: &Background, evidence: &Evidence) -> f64 {
    let rows = background.rows.max(1.0);
    let (mean, deviation) = shrunk(background);
    let z = (evidence.similarity - mean) / deviation;
    let idf = |found: &f64| ((rows + 1.0) / (found + 0.5)).ln().max(0.0);
    let all: f64 = evidence.terms.iter().map(idf).sum();
    let covered = if all > 0.0 { evidence.matched.iter().map(idf).sum::<f64>() / all } else { 0.0 };
    let rarest = evidence.matched.iter().map(idf).fold(0.0, f64::max);
    let rare = (rarest / ((rows + 1.0) / 1.5).ln()).clamp(0.0, 1.0);
    let by_meaning = logistic(1.13 * evidence.similarity + 0.90 * z + 3.13 * covered + 1.66 * rare - 2.38 - rows.ln());
    let by_name = evidence.named.map_or(0.0, |named| {
        // a name that half the store carries says nothing about one memory
        let alone = if rows > 1.0 { 1.0 - named.max(1.0).ln() / rows.ln() } else { 1.0 };
        logistic(4.0 * (alone - 1.0))
    });
    1.0 - (1.0 - by_meaning) * (1.0 - by_name)
}

/// Which of the memories stay, each with its relevance: none if even the best is below the floor, else those at least half as good.
pub fn keeps(best: f64, floor: f64, relevance: f64) -> bool {
    best >= floor && relevance >= best / 2.0
}

fn shrunk(background: &Background) -> (f64, f64) {
    let n = background.compared.max(0.0);
    let total = n + PSEUDO_ROWS;
    let mean = (n * background.mean + PSEUDO_ROWS * ORDINARY_MEAN) / total;
    let spread = |mean_of: f64, deviation: f64| deviation.powi(2) + (mean_of - mean).powi(2);
    let variance = (n * spread(background.mean, background.deviation)
        + PSEUDO_ROWS * spread(ORDINARY_MEAN, ORDINARY_DEVIATION))
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

    fn store(rows: f64) -> Background {
        Background { rows, compared: rows, mean: 0.15, deviation: 0.1 }
    }

    fn evidence(similarity: f64, matched: usize) -> Evidence {
        Evidence { similarity, terms: vec![1.0; 3], matched: vec![1.0; matched], named: None }
    }

    #[test]
    fn a_memory_with_the_words_and_the_meaning_is_relevant_and_a_stranger_is_not() {
        assert!(relevance(&store(1000.0), &evidence(0.7, 3)) > 0.5);
        assert!(relevance(&store(1000.0), &evidence(0.2, 0)) < 0.01);
    }

    #[test]
    fn the_name_of_its_entity_makes_a_memory_relevant() {
        let named = |carriers| Evidence { named: Some(carriers), ..evidence(0.2, 0) };
        assert!(relevance(&store(1000.0), &named(1.0)) > 0.4);
        assert!(relevance(&store(1000.0), &named(900.0)) < 0.1, "a name that everything carries says nothing");
    }

    #[test]
    fn nothing_is_kept_when_the_best_is_below_the_floor() {
        assert!(!keeps(0.04, 0.05, 0.04));
        assert!(keeps(0.4, 0.05, 0.2) && !keeps(0.4, 0.05, 0.19));
    }

    #[test]
    fn an_empty_store_and_a_single_memory_are_no_division_by_zero() {
        let empty = Background { rows: 0.0, compared: 0.0, mean: 0.0, deviation: 0.0 };
        assert!(relevance(&empty, &evidence(0.9, 3)).is_finite());
        assert!(
            relevance(&Background { rows: 1.0, ..empty }, &Evidence { named: Some(1.0), ..evidence(0.9, 0) }) > 0.5
        );
    }

    proptest! {
        #[test]
        fn more_evidence_never_lowers_a_relevance(
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
