//! Deep mode, the ranking for memories that are turns of a conversation: it fuses scores instead of ranks.
//!
//! The SQL function `episodes_deep` scores episodes, because the score of a turn also depends on its neighbours and its
//! session. Facts and rules have neither, so [`fuse`] scores them here. docs/retrieval.md explains the method.

/// The weights of deep mode. A small grid search chose them; values nearby perform about as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeepWeights {
    /// Share of the keyword score, 0 to 1. The semantic score has the rest.
    pub keyword: f64,
    /// Share of a turn's own text within its keyword score, 0 to 1. The turn together with its neighbours has the rest.
    pub own_text: f64,
    /// Weight of a neighbouring turn's cosine similarity, added to the turn's own.
    pub neighbour: f64,
    /// Bonus for a turn by the speaker whom the query names.
    pub speaker: f64,
    /// Weight of the session's score, the mean of its three best turns.
    pub session: f64,
}

impl Default for DeepWeights {
    fn default() -> Self {
        Self { keyword: 0.5, own_text: 0.5, neighbour: 0.3, speaker: 0.1, session: 0.3 }
    }
}

impl DeepWeights {
    /// The weights in the order of `episodes_deep`'s array parameter.
    pub fn as_array(&self) -> [f64; 5] {
        [self.keyword, self.own_text, self.neighbour, self.speaker, self.session]
    }
}

/// What the semantic and the keyword search say about one memory. `None` if that search did not find it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchScores {
    /// Cosine similarity to the query.
    pub similarity: Option<f64>,
    /// `ts_rank` of the query's words.
    pub keyword_rank: Option<f64>,
}

/// Scales both scores to [0, 1] within the list and returns their weighted means, in the order of the list.
pub fn fuse(list: &[SearchScores], weights: &DeepWeights) -> Vec<f64> {
    let semantic = min_max_scale(list.iter().map(|scores| scores.similarity));
    // A memory without any of the words counts as rank 0, below the lowest rank found.
    let keyword = min_max_scale(list.iter().map(|scores| Some(scores.keyword_rank.unwrap_or(0.0))));
    semantic.iter().zip(&keyword).map(|(s, k)| (1.0 - weights.keyword) * s + weights.keyword * k).collect()
}

/// Scales the values to [0, 1]. Missing values become 0, and so do all values if they are equal.
fn min_max_scale(values: impl Iterator<Item = Option<f64>> + Clone) -> Vec<f64> {
    let known = || values.clone().flatten();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let range = most - least;
    values.map(|value| value.filter(|_| range > 0.0).map_or(0.0, |value| (value - least) / range)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(similarity: f64, keyword_rank: f64) -> SearchScores {
        SearchScores { similarity: Some(similarity), keyword_rank: Some(keyword_rank) }
    }

    #[test]
    fn score_fusion_keeps_the_distances_that_ranks_lose() {
        let scores = fuse(&[of(0.9, 0.5), of(0.85, 0.0), of(0.1, 0.4)], &DeepWeights::default());
        assert!((scores[0] - 1.0).abs() < 1e-12);
        assert!(
            scores[1] > scores[2],
            "a close semantic match outranks a close keyword match with an unrelated meaning: {scores:?}"
        );
    }

    #[test]
    fn equal_scores_all_become_zero() {
        assert_eq!(fuse(&[of(0.5, 0.1), of(0.5, 0.1)], &DeepWeights::default()), [0.0, 0.0]);
        assert_eq!(fuse(&[], &DeepWeights::default()), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn a_deep_score_is_between_zero_and_one(
            list in prop::collection::vec((prop::option::of(-1.0..1.0f64), prop::option::of(0.0..1.0f64)), 0..20),
        ) {
            let list: Vec<_> = list.into_iter().map(|(similarity, keyword_rank)| SearchScores { similarity, keyword_rank }).collect();
            for score in fuse(&list, &DeepWeights::default()) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&score));
            }
        }
    }
}
