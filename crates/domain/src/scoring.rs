//! The composite score of a memory: the weighted sum of relevance, importance, recency and effective confidence.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::{Timestamp, days_between};

/// Rules have no importance of their own; they score like a fact with the default importance.
pub const RULE_IMPORTANCE: f64 = 5.0;
/// The upper end of the importance scale, which starts at 0.
pub const MAX_IMPORTANCE: f64 = 10.0;
/// The recency of a memory halves with every week without a reference.
pub const RECENCY_HALF_LIFE_DAYS: f64 = 7.0;

/// The weights of the composite score, from `[modules.memory.retrieval] score_weights`. They need not sum to 1, because
/// only the order of scores matters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreWeights {
    /// How well the memory matches the topic.
    pub relevance: f64,
    pub importance: f64,
    /// How recently the memory was used.
    pub recency: f64,
    /// How much confidence is left after decay.
    pub confidence: f64,
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self { relevance: 0.4, importance: 0.3, recency: 0.2, confidence: 0.1 }
    }
}

/// A weight that is negative, infinite or NaN.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("score_weights.{name} is {value}; a weight must be a finite number of at least 0")]
pub struct WeightError {
    pub name: &'static str,
    pub value: f64,
}

impl ScoreWeights {
    /// Rejects weights that are negative, infinite or NaN.
    pub fn new(relevance: f64, importance: f64, recency: f64, confidence: f64) -> Result<Self, WeightError> {
        let named =
            [("relevance", relevance), ("importance", importance), ("recency", recency), ("confidence", confidence)];
        match named.into_iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
            Some((name, value)) => Err(WeightError { name, value }),
            None => Ok(Self { relevance, importance, recency, confidence }),
        }
    }
}

/// The four parts of a composite score, each in [0, 1]. Results show them to explain the order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScoreParts {
    pub relevance: f64,
    pub importance: f64,
    pub recency: f64,
    pub effective_confidence: f64,
}

impl ScoreParts {
    /// Clamps each part to [0, 1]. `importance` is the stored value, 0 to 10.
    pub fn new(relevance: f64, importance: f64, recency: f64, effective_confidence: f64) -> Self {
        Self {
            relevance: unit(relevance),
            importance: unit(importance / MAX_IMPORTANCE),
            recency: unit(recency),
            effective_confidence: unit(effective_confidence),
        }
    }

    /// The weighted sum of the parts.
    pub fn composite(&self, weights: &ScoreWeights) -> f64 {
        weights.relevance * self.relevance
            + weights.importance * self.importance
            + weights.recency * self.recency
            + weights.confidence * self.effective_confidence
    }
}

/// Clamps to [0, 1]; NaN becomes 0.
fn unit(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// `exp(−ln 2 / 7 · days)` since the last reference, or 0 if the memory was never referenced.
pub fn recency(last_referenced_at: Option<Timestamp>, now: Timestamp) -> f64 {
    last_referenced_at.map_or(0.0, |at| {
        let days = days_between(at, now);
        unit((-std::f64::consts::LN_2 / RECENCY_HALF_LIFE_DAYS * days).exp())
    })
}

/// The order of every list of results: higher score first, then newer, then lower id. The order is total, so the same
/// data always gives the same list.
pub fn by_score(a: (f64, Timestamp, Uuid), b: (f64, Timestamp, Uuid)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| b.1.cmp(&a.1)).then_with(|| a.2.cmp(&b.2))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use proptest::prelude::*;

    use super::*;

    fn day(days: i64) -> Timestamp {
        DateTime::UNIX_EPOCH + TimeDelta::days(days)
    }

    #[test]
    fn composite_score_formula() {
        let parts = ScoreParts::new(0.5, 8.0, 0.25, 0.9);
        let expected = 0.4 * 0.5 + 0.3 * 0.8 + 0.2 * 0.25 + 0.1 * 0.9;
        assert!((parts.composite(&ScoreWeights::default()) - expected).abs() < 1e-12);
        assert_eq!(ScoreParts::new(7.0, 99.0, 2.0, 2.0), ScoreParts::new(1.0, 10.0, 1.0, 1.0), "capped at 1");
    }

    #[test]
    fn recency_score_uses_exponential_decay() {
        assert_eq!(recency(None, day(0)), 0.0);
        assert_eq!(recency(Some(day(3)), day(3)), 1.0);
        assert!((recency(Some(day(0)), day(7)) - 0.5).abs() < 1e-12);
        assert!((recency(Some(day(0)), day(21)) - 0.125).abs() < 1e-12);
        assert_eq!(recency(Some(day(9)), day(3)), 1.0, "a reference in the future counts as now");
    }

    #[test]
    fn deterministic_ordering_with_tie_breaking() {
        let id = Uuid::from_u128;
        let mut rows = [(0.5, day(1), id(2)), (0.5, day(1), id(1)), (0.5, day(2), id(9)), (0.9, day(0), id(3))];
        rows.sort_by(|a, b| by_score(*a, *b));
        assert_eq!(rows.iter().map(|r| r.2.as_u128()).collect::<Vec<_>>(), [3, 9, 1, 2]);
    }

    #[test]
    fn negative_weights_are_rejected_and_a_sum_other_than_one_is_accepted() {
        assert_eq!(ScoreWeights::new(0.4, -0.1, 0.2, 0.1).unwrap_err().name, "importance");
        assert!(ScoreWeights::new(f64::NAN, 0.0, 0.0, 0.0).is_err());
        assert!(ScoreWeights::new(0.0, 0.0, f64::INFINITY, 0.0).is_err());
        assert!(ScoreWeights::new(3.0, 2.0, 1.0, 0.0).is_ok());
    }

    proptest! {
        #[test]
        fn a_score_is_bounded_by_the_weights(r in any::<f64>(), i in any::<f64>(), y in any::<f64>(), c in any::<f64>()) {
            let score = ScoreParts::new(r, i, y, c).composite(&ScoreWeights::default());
            prop_assert!((0.0..=1.0 + 1e-12).contains(&score));
        }

        #[test]
        fn more_of_any_part_never_lowers_the_score(
            p in prop::array::uniform4(0.0..1.0f64), more in 0.0..1.0f64, which in 0..4usize,
        ) {
            let score = |p: [f64; 4]| {
                ScoreParts::new(p[0], p[1] * 10.0, p[2], p[3]).composite(&ScoreWeights::default())
            };
            let mut raised = p;
            raised[which] += more;
            prop_assert!(score(raised) >= score(p));
        }

        #[test]
        fn the_order_is_total(rows in prop::collection::vec((any::<f64>(), 0..3i64, 0..4u128), 0..12)) {
            let mut a: Vec<_> = rows.iter().map(|(s, d, i)| (*s, day(*d), Uuid::from_u128(*i))).collect();
            let mut b = a.clone();
            b.reverse();
            a.sort_by(|x, y| by_score(*x, *y));
            b.sort_by(|x, y| by_score(*x, *y));
            prop_assert!(a.iter().zip(&b).all(|(x, y)| by_score(*x, *y) == Ordering::Equal));
        }
    }
}
