//! Reciprocal rank fusion (RRF) of semantic and keyword search. It fuses ranks, because a cosine and a `ts_rank` are
//! not comparable.

/// The constant of the published method. It keeps the first rank from dominating all others.
pub const RRF_K: f64 = 60.0;

/// The fused score of two ranks, which start at 1. A search that did not find the memory counts as rank `limit + 1`.
pub fn rrf_score(semantic_rank: usize, keyword_rank: usize) -> f64 {
    1.0 / (RRF_K + semantic_rank as f64) + 1.0 / (RRF_K + keyword_rank as f64)
}

/// The rank that would give this RRF score if both searches agreed on it. It starts at 1.
pub fn rank_of_rrf(rrf_score: f64) -> f64 {
    2.0 / rrf_score - RRF_K
}

/// The share of the relevance that separates memories ranked close to the best from the rest.
const STEP: f64 = 0.7;

/// Returns the relevance of a rank, in [0, 1]; `best` is the best rank among the results. The relevance drops steeply a few
/// ranks below the best: a memory that both searches find counts as a clear match; one that only one search finds does not,
/// unless nothing better was found. With the default weights the drop outweighs recency, so a memory that was used today
/// can overtake others of similar rank but never a clear match, however few memories there are.
pub fn relevance_of_rank(rank: f64, best: f64, limit: usize) -> f64 {
    if limit == 0 || !(rank.is_finite() && best.is_finite()) {
        return 0.0;
    }
    let limit = limit as f64;
    let equals = (0.25 * limit).clamp(0.5, 3.0);
    let steepness = ((rank - best - equals) / (equals / 8.0)).clamp(-50.0, 50.0);
    let slope = (1.0 - (rank - 1.0) / limit).clamp(0.0, 1.0);
    STEP / (1.0 + steepness.exp()) + (1.0 - STEP) * slope
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
    fn the_rank_of_a_score_is_the_rank_that_both_searches_would_need() {
        assert!((rank_of_rrf(rrf_score(7, 7)) - 7.0).abs() < 1e-9);
        let mixed = rank_of_rrf(rrf_score(1, 11));
        assert!(mixed > 1.0 && mixed < 11.0, "{mixed}");
    }

    #[test]
    fn relevance_spans_the_range_with_a_step_below_the_clear_matches() {
        let both = rank_of_rrf(rrf_score(1, 1));
        let one = rank_of_rrf(rrf_score(1, 11));
        assert!(relevance_of_rank(both, both, 10) > 0.99);
        assert!(relevance_of_rank(11.0, both, 10) < 0.01);
        let fall = relevance_of_rank(both, both, 10) - relevance_of_rank(one, both, 10);
        assert!(0.4 * fall > 0.2, "recency must not lift what one search found over what both found first: {fall}");
        let second = rank_of_rrf(rrf_score(2, 11));
        let equals = relevance_of_rank(one, one, 10) - relevance_of_rank(second, one, 10);
        assert!(0.4 * equals < 0.1, "the best that one search found are equals: {equals}");
        assert!(relevance_of_rank(1.0, 1.0, 1) > 0.99, "the first of one");
        assert_eq!((relevance_of_rank(1.0, 1.0, 0), relevance_of_rank(f64::NAN, 1.0, 10)), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn relevance_is_within_the_range_and_never_rises_with_the_rank(
            best in 1.0..30.0f64, below in 0.0..150.0f64, more in 0.0..10.0f64, limit in 1..100usize,
        ) {
            let relevance = relevance_of_rank(best + below, best, limit);
            prop_assert!((0.0..=1.0).contains(&relevance));
            prop_assert!(relevance_of_rank(best + below + more, best, limit) <= relevance);
        }

        #[test]
        fn a_better_rank_never_scores_less(s in 1..50usize, k in 1..50usize) {
            prop_assert!(rrf_score(s, k) > rrf_score(s + 1, k) && rrf_score(s, k) > rrf_score(s, k + 1));
        }
    }
}
