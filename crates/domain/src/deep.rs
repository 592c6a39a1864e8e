//! The mode for memories that are turns of a conversation: scores are fused instead of ranks.
//!
//! Episodes are scored where they are, in the database (`episodes_deep`), since a turn is judged with its
//! neighbours and its session. Facts and rules have neither: theirs is [`fuse`]. docs/retrieval.md explains the method.

/// What counts how much. Found on a small grid; everything near it does about as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeepWeights {
    /// Of the words; the rest is the meaning's.
    pub keyword: f64,
    /// Of a turn's own words; the rest is that of the words of the turn and its neighbours together.
    pub own: f64,
    /// A neighbour's cosine beside the turn's own.
    pub neighbour: f64,
    /// For a turn of the one speaker the query names.
    pub speaker: f64,
    /// Of the session: the mean of its three best turns.
    pub session: f64,
}

impl Default for DeepWeights {
    fn default() -> Self {
        Self { keyword: 0.5, own: 0.5, neighbour: 0.3, speaker: 0.1, session: 0.3 }
    }
}

impl DeepWeights {
    pub fn as_array(&self) -> [f64; 5] {
        [self.keyword, self.own, self.neighbour, self.speaker, self.session]
    }
}

/// One memory's two measures; `None`: the leg did not find it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures {
    pub similarity: Option<f64>,
    pub rank: Option<f64>,
}

/// Both measures between the worst and the best of the list, weighed. In [0, 1], in the order of the list.
pub fn fuse(list: &[Measures], weights: &DeepWeights) -> Vec<f64> {
    let meaning = spread(list.iter().map(|m| m.similarity));
    // a memory without any of the words has none of them, which is less than the least
    let words = spread(list.iter().map(|m| Some(m.rank.unwrap_or(0.0))));
    meaning.iter().zip(&words).map(|(m, w)| (1.0 - weights.keyword) * m + weights.keyword * w).collect()
}

/// Min–max; where all are equal nothing is told apart.
fn spread(values: impl Iterator<Item = Option<f64>> + Clone) -> Vec<f64> {
    let known = || values.clone().flatten();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let range = most - least;
    values.map(|value| value.filter(|_| range > 0.0).map_or(0.0, |value| (value - least) / range)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(similarity: f64, rank: f64) -> Measures {
        Measures { similarity: Some(similarity), rank: Some(rank) }
    }

    #[test]
    fn score_fusion_keeps_the_distances_that_ranks_lose() {
        let scores = fuse(&[of(0.9, 0.5), of(0.85, 0.0), of(0.1, 0.4)], &DeepWeights::default());
        assert!((scores[0] - 1.0).abs() < 1e-12);
        assert!(scores[1] > scores[2], "nearly the best meaning beats nearly the best words of a stranger: {scores:?}");
    }

    #[test]
    fn equal_measures_tell_nothing_apart() {
        assert_eq!(fuse(&[of(0.5, 0.1), of(0.5, 0.1)], &DeepWeights::default()), [0.0, 0.0]);
        assert_eq!(fuse(&[], &DeepWeights::default()), Vec::<f64>::new());
    }

    proptest! {
        #[test]
        fn a_deep_score_is_between_zero_and_one(
            list in prop::collection::vec((prop::option::of(-1.0..1.0f64), prop::option::of(0.0..1.0f64)), 0..20),
        ) {
            let list: Vec<_> = list.into_iter().map(|(similarity, rank)| Measures { similarity, rank }).collect();
            for score in fuse(&list, &DeepWeights::default()) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&score));
            }
        }
    }
}
