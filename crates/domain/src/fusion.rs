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

/// The share of the relevance that separates clear matches from the rest.
const STEP: f64 = 0.7;

/// Returns the relevance of a rank, in [0, 1]: near 1 for the first ranks, near 0 for the last, with a step between. With the
/// default weights the step outweighs recency, so a memory that was used today can overtake others on its side of the step but
/// never a clear match.
///
/// If more was found than `limit` (`few_from` is `None`), the step lies at three quarters of the limit, at most at rank 10, so
/// that recent use does not push relevant memories out. Otherwise everything is returned, and `few_from` is the best rank. Then
/// the step lies between what both searches ranked high and what only one of them found. If there is nothing of the former, it
/// lies a few ranks below the best.
pub fn relevance_of_rank(rank: f64, few_from: Option<f64>, limit: usize) -> f64 {
    if limit == 0 || !rank.is_finite() {
        return 0.0;
    }
    let found_once = rank_of_rrf(rrf_score(1, limit + 1));
    let limit = limit as f64;
    let margin = 0.5_f64.min((found_once - 1.0) / 2.0);
    let (middle, width) = match few_from {
        None => {
            let middle = (0.75 * limit).clamp(1.5, 10.0);
            (middle, middle / 20.0)
        }
        Some(best) if best < found_once - margin => (found_once - margin, margin / 5.0),
        Some(best) => (best + (0.25 * limit).clamp(0.5, 3.0), margin / 5.0),
    };
    let steepness = ((rank - middle) / width).clamp(-50.0, 50.0);
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
        assert!(relevance_of_rank(1.0, None, 10) > 0.99);
        assert!(relevance_of_rank(11.0, None, 10) < 0.01);
        let fall = relevance_of_rank(6.0, None, 10) - relevance_of_rank(9.0, None, 10);
        assert!(0.4 * fall > 0.2, "recency must not lift filler over a clear match: {fall}");
        assert!(relevance_of_rank(1.0, None, 1) > 0.99, "the first of one");
        assert_eq!((relevance_of_rank(1.0, None, 0), relevance_of_rank(f64::NAN, None, 10)), (0.0, 0.0));
    }

    #[test]
    fn where_everything_is_returned_the_step_is_below_what_both_searches_found() {
        let (both, once) = (rank_of_rrf(rrf_score(1, 1)), rank_of_rrf(rrf_score(1, 11)));
        let fall = relevance_of_rank(both, Some(both), 10) - relevance_of_rank(once, Some(both), 10);
        assert!(0.4 * fall > 0.2, "recency must not lift what one search found over what both found first: {fall}");
        let second = rank_of_rrf(rrf_score(2, 11));
        let equals = relevance_of_rank(once, Some(once), 10) - relevance_of_rank(second, Some(once), 10);
        assert!(0.4 * equals < 0.1, "the best that one search found are equals: {equals}");
        assert!(relevance_of_rank(1.0, Some(1.0), 1) > 0.99, "the first of one");
    }

    proptest! {
        #[test]
        fn relevance_is_within_the_range_and_never_rises_with_the_rank(
            best in 1.0..30.0f64, below in 0.0..150.0f64, more in 0.0..10.0f64, limit in 1..100usize, few in any::<bool>(),
        ) {
            let of = |rank| relevance_of_rank(rank, few.then_some(best), limit);
            prop_assert!((0.0..=1.0).contains(&of(best + below)));
            prop_assert!(of(best + below + more) <= of(best + below));
        }

        #[test]
        fn a_better_rank_never_scores_less(s in 1..50usize, k in 1..50usize) {
            prop_assert!(rrf_score(s, k) > rrf_score(s + 1, k) && rrf_score(s, k) > rrf_score(s, k + 1));
        }
    }
}
