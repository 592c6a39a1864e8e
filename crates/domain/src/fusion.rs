//! Reciprocal rank fusion of the semantic and the keyword leg: ranks, since a cosine and a `ts_rank` do not compare.

use std::collections::HashMap;
use std::hash::Hash;

/// The constant of the published method: it keeps the first rank from drowning all others.
pub const RRF_K: f64 = 60.0;

/// One memory of a fused list. A leg that did not find it counts as the rank behind its last: `limit + 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused<Id> {
    pub id: Id,
    pub rrf_score: f64,
    pub semantic_rank: usize,
    pub keyword_rank: usize,
    pub in_semantic: bool,
    pub in_keyword: bool,
}

pub fn rrf_score(semantic_rank: usize, keyword_rank: usize) -> f64 {
    1.0 / (RRF_K + semantic_rank as f64) + 1.0 / (RRF_K + keyword_rank as f64)
}

/// Fuses two lists, each best first. Of an id that a leg names twice the better rank counts; beyond `limit` a leg is
/// not read. Ordered by score, then semantic rank, then keyword rank; no two memories share both ranks, so it is total.
pub fn fuse<Id: Copy + Eq + Hash>(semantic: &[Id], keyword: &[Id], limit: usize) -> Vec<Fused<Id>> {
    let semantic_ranks = ranks(semantic, limit);
    let keyword_ranks = ranks(keyword, limit);
    let absent = limit.saturating_add(1);
    let only_keyword = keyword_ranks.keys().filter(|id| !semantic_ranks.contains_key(*id));
    let mut fused: Vec<_> = semantic_ranks
        .keys()
        .chain(only_keyword)
        .map(|id| {
            let (semantic, keyword) = (semantic_ranks.get(id).copied(), keyword_ranks.get(id).copied());
            let (semantic_rank, keyword_rank) = (semantic.unwrap_or(absent), keyword.unwrap_or(absent));
            Fused {
                id: *id,
                rrf_score: rrf_score(semantic_rank, keyword_rank),
                semantic_rank,
                keyword_rank,
                in_semantic: semantic.is_some(),
                in_keyword: keyword.is_some(),
            }
        })
        .collect();
    fused.sort_by(|a, b| {
        b.rrf_score
            .total_cmp(&a.rrf_score)
            .then(a.semantic_rank.cmp(&b.semantic_rank))
            .then(a.keyword_rank.cmp(&b.keyword_rank))
    });
    fused
}

fn ranks<Id: Copy + Eq + Hash>(list: &[Id], limit: usize) -> HashMap<Id, usize> {
    let mut ranks = HashMap::with_capacity(list.len().min(limit));
    for id in list {
        if ranks.len() == limit {
            break;
        }
        let next = ranks.len() + 1;
        ranks.entry(*id).or_insert(next);
    }
    ranks
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
    fn hybrid_search_uses_reciprocal_rank_fusion() {
        let fused = fuse(&["a", "b"], &["b", "c"], 2);
        let of = |id| *fused.iter().find(|f| f.id == id).unwrap();
        assert_eq!(of("b").rrf_score, 1.0 / 62.0 + 1.0 / 61.0);
        assert_eq!(of("a").rrf_score, 1.0 / 61.0 + 1.0 / 63.0, "missing rank is limit + 1");
        assert_eq!((of("c").semantic_rank, of("c").keyword_rank), (3, 2));
        assert_eq!(fused.iter().map(|f| f.id).collect::<Vec<_>>(), ["b", "a", "c"]);
    }

    #[test]
    fn semantic_rank_ascending_is_the_tiebreaker() {
        let fused = fuse(&["sem"], &["key"], 10);
        assert_eq!(fused[0].rrf_score, fused[1].rrf_score);
        assert_eq!(fused[0].id, "sem");
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
    fn nothing_in_nothing_out() {
        assert!(fuse::<u8>(&[], &[], 10).is_empty());
        assert!(fuse(&[1], &[1], 0).is_empty());
        assert_eq!(normalised_rrf(1.0, 0), 0.0);
    }

    proptest! {
        #[test]
        fn fusion_keeps_every_id_once_in_a_total_order(
            s in prop::collection::vec(0..30u8, 0..20), k in prop::collection::vec(0..30u8, 0..20), limit in 1..25usize,
        ) {
            let fused = fuse(&s, &k, limit);
            let mut ids: Vec<_> = fused.iter().map(|f| f.id).collect();
            ids.sort_unstable();
            ids.dedup();
            prop_assert_eq!(ids.len(), fused.len());
            prop_assert_eq!(&fused, &fuse(&s, &k, limit));
            for pair in fused.windows(2) {
                prop_assert!(pair[0].rrf_score >= pair[1].rrf_score);
                prop_assert!((pair[0].semantic_rank, pair[0].keyword_rank) != (pair[1].semantic_rank, pair[1].keyword_rank));
            }
            for f in &fused {
                prop_assert!((0.0..=1.0).contains(&normalised_rrf(f.rrf_score, limit)));
                prop_assert!(f.in_semantic || f.in_keyword);
            }
        }

        #[test]
        fn a_better_rank_never_scores_less(s in 1..50usize, k in 1..50usize) {
            prop_assert!(rrf_score(s, k) > rrf_score(s + 1, k) && rrf_score(s, k) > rrf_score(s, k + 1));
        }
    }
}
