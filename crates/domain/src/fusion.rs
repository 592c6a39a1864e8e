//! Reciprocal rank fusion of the semantic and the keyword leg: ranks, since a cosine and a `ts_rank` do not compare.

/// The constant of the published method: it keeps the first rank from drowning all others.
pub const RRF_K: f64 = 60.0;

/// Ranks count from 1; of a leg that did not find the memory it is the one behind its last: `limit + 1`.
pub fn rrf_score(semantic_rank: usize, keyword_rank: usize) -> f64 {
    1.0 / (RRF_K + semantic_rank as f64) + 1.0 / (RRF_K + keyword_rank as f64)
}

/// Relevance in [0, 1]: 1 for first in both legs, 0 for absent from both. Dividing by the best alone would leave the
/// first and the tenth result almost equal in the final score.
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
        assert_eq!(rrf_score(1, 11), rrf_score(11, 1), "neither leg counts more");
    }

    #[test]
    fn normalised_rrf_spans_the_whole_range() {
        assert_eq!(normalised_rrf(rrf_score(1, 1), 10), 1.0);
        assert_eq!(normalised_rrf(rrf_score(11, 11), 10), 0.0);
        assert_eq!(normalised_rrf(99.0, 10), 1.0);
        let apart = normalised_rrf(rrf_score(1, 1), 10) - normalised_rrf(rrf_score(10, 10), 10);
        assert!(apart > 0.8, "{apart}");
    }

    #[test]
    fn a_limit_of_nothing_has_no_relevance() {
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
