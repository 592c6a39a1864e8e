//! Reciprocal rank fusion (RRF) of semantic and keyword search. It fuses ranks, because a cosine and a `ts_rank` are
//! not comparable.

/// The constant of the published method. It keeps the first rank from dominating all others.
pub const RRF_K: f64 = 60.0;

/// The fused score of two ranks, which start at 1. A search that did not find the memory counts as rank `limit + 1`.
pub fn rrf_score(semantic_rank: usize, keyword_rank: usize) -> f64 {
    1.0 / (RRF_K + semantic_rank as f64) + 1.0 / (RRF_K + keyword_rank as f64)
}

/// Scales an RRF score to [0, 1]: 1 for first in both searches, 0 for absent from both. Dividing by the best score
/// alone would leave the first and the tenth result almost equal in the final score.
pub fn normalised_rrf(rrf_score: f64, limit: usize) -> f64 {
    let best = self::rrf_score(1, 1);
    let absent = limit.saturating_add(1);
    let worst = self::rrf_score(absent, absent);
    if best > worst { ((rrf_score - worst) / (best - worst)).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_score_adds_the_reciprocals_of_both_ranks() {
        assert_eq!(rrf_score(2, 1), 1.0 / 62.0 + 1.0 / 61.0);
        assert_eq!(rrf_score(1, 11), rrf_score(11, 1), "both searches have the same weight");
    }

    #[test]
    fn normalised_rrf_spans_the_whole_range() {
        assert_eq!(normalised_rrf(rrf_score(1, 1), 10), 1.0);
        assert_eq!(normalised_rrf(rrf_score(11, 11), 10), 0.0);
        assert_eq!(normalised_rrf(99.0, 10), 1.0);
        let difference = normalised_rrf(rrf_score(1, 1), 10) - normalised_rrf(rrf_score(10, 10), 10);
        assert!(difference > 0.8, "{difference}");
    }

    #[test]
    fn with_a_limit_of_zero_the_relevance_is_zero() {
        assert_eq!(normalised_rrf(1.0, 0), 0.0);
    }

    proptest! {
        #[test]
        fn every_score_of_a_list_is_within_the_range(s in 1..25usize, k in 1..25usize, limit in 24..100usize) {
            prop_assert!((0.0..=1.0).contains(&normalised_rrf(rrf_score(s, k), limit)));
        }

        #[test]
        fn a_better_rank_never_scores_less(s in 1..50usize, k in 1..50usize) {
            prop_assert!(rrf_score(s, k) > rrf_score(s + 1, k) && rrf_score(s, k) > rrf_score(s, k + 1));
        }
    }
}
