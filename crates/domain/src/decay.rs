//! How confidence decays without confirmation. All Rust code that needs a decayed confidence calls these functions.

use chrono::TimeDelta;

use crate::clock::{Timestamp, days_between};

/// `confidence · exp(−decay_rate · days)`. With a `decay_rate` of 0 or less, `confidence` does not change.
pub fn confidence_after(confidence: f64, decay_rate: f64, days: f64) -> f64 {
    if decay_rate > 0.0 { confidence * (-decay_rate * days.max(0.0)).exp() } else { confidence }
}

/// The confidence left at `now`. A memory that was never confirmed has 0, unless its decay rate is 0.
pub fn effective_confidence(
    confidence: f64,
    decay_rate: f64,
    last_confirmed_at: Option<Timestamp>,
    now: Timestamp,
) -> f64 {
    match last_confirmed_at {
        _ if decay_rate == 0.0 => confidence,
        None => 0.0,
        Some(at) => confidence_after(confidence, decay_rate, days_between(at, now)),
    }
}

/// When the effective confidence falls below `threshold`. `None` if it never does, or if the memory was never
/// confirmed. A memory that starts below the threshold falls below it at its confirmation.
pub fn falls_below_at(
    threshold: f64,
    confidence: f64,
    decay_rate: f64,
    last_confirmed_at: Option<Timestamp>,
) -> Option<Timestamp> {
    let from = last_confirmed_at?;
    if confidence < threshold {
        return Some(from);
    }
    let days = (confidence / threshold).ln() / decay_rate;
    if !(decay_rate > 0.0 && days.is_finite()) {
        return None;
    }
    // A date beyond the range of the calendar means never.
    let seconds = (days * 86_400.0).ceil();
    if seconds > i64::MAX as f64 / 2000.0 {
        return None;
    }
    from.checked_add_signed(TimeDelta::try_seconds(seconds as i64)?)
}

/// The limits of effective confidence from `[modules.memory.confidence]`, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayThresholds {
    /// Below this a memory is fading and is not retrieved by default.
    pub retrieval: f64,
    /// Below this a fact expires. Never above `retrieval`.
    pub expiry: f64,
}

impl Default for DecayThresholds {
    fn default() -> Self {
        Self { retrieval: 0.2, expiry: 0.05 }
    }
}

/// Thresholds outside 0 to 1, or an expiry threshold above the retrieval threshold.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "retrieval_threshold {retrieval} and expiry_threshold {expiry} must lie in 0–1, with expiry not above retrieval"
)]
pub struct ThresholdError {
    pub retrieval: f64,
    pub expiry: f64,
}

impl DecayThresholds {
    /// Checks that both thresholds lie in 0 to 1 and that expiry is not above retrieval.
    pub fn new(retrieval: f64, expiry: f64) -> Result<Self, ThresholdError> {
        // Comparisons with NaN are false, so this rejects NaN too.
        if 0.0 <= expiry && expiry <= retrieval && retrieval <= 1.0 {
            Ok(Self { retrieval, expiry })
        } else {
            Err(ThresholdError { retrieval, expiry })
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;

    use super::*;

    fn day(days: f64) -> Timestamp {
        DateTime::UNIX_EPOCH + TimeDelta::microseconds((days * 86_400_000_000.0) as i64)
    }

    #[test]
    fn permanent_facts_never_decay() {
        assert_eq!(effective_confidence(0.7, 0.0, Some(day(0.0)), day(90_000.0)), 0.7);
        assert_eq!(
            effective_confidence(0.7, 0.0, None, day(1.0)),
            0.7,
            "permanence takes precedence over a missing confirmation"
        );
        assert_eq!(falls_below_at(0.2, 1.0, 0.0, Some(day(0.0))), None);
    }

    #[test]
    fn unconfirmed_memory_returns_zero_confidence() {
        assert_eq!(effective_confidence(1.0, 0.008, None, day(1.0)), 0.0);
    }

    #[test]
    fn confidence_decays_exponentially_since_last_confirmation() {
        let value = effective_confidence(0.9, 0.008, Some(day(10.0)), day(110.5));
        assert!((value - 0.9 * (-0.008f64 * 100.5).exp()).abs() < 1e-12);
        assert_eq!(
            effective_confidence(1.0, 0.1, Some(day(5.0)), day(1.0)),
            1.0,
            "a clock that runs behind does not raise confidence"
        );
    }

    #[test]
    fn thresholds_out_of_range_or_in_the_wrong_order_are_rejected() {
        assert!(DecayThresholds::new(0.2, 0.3).is_err());
        assert!(DecayThresholds::new(1.1, 0.0).is_err());
        assert!(DecayThresholds::new(f64::NAN, 0.0).is_err());
        assert!(DecayThresholds::new(0.0, 0.0).is_ok());
    }

    #[test]
    fn a_date_beyond_the_calendar_means_never() {
        assert_eq!(falls_below_at(0.2, 1.0, 1e-300, Some(day(0.0))), None);
        assert_eq!(falls_below_at(0.0, 1.0, 0.1, Some(day(0.0))), None);
        assert_eq!(falls_below_at(0.2, 0.1, 0.1, Some(day(3.0))), Some(day(3.0)));
        assert_eq!(falls_below_at(0.2, 1.0, 0.1, None), None);
    }

    proptest! {
        #[test]
        fn decay_is_monotone_and_bounded(c in 0.0..=1.0f64, r in 0.0..2.0f64, a in 0.0..5000.0f64, b in 0.0..5000.0f64) {
            let (early, late) = (a.min(b), a.max(b));
            let (x, y) = (confidence_after(c, r, early), confidence_after(c, r, late));
            prop_assert!(y <= x && (0.0..=c).contains(&x));
        }

        #[test]
        fn the_predicted_date_is_when_the_threshold_is_crossed(c in 0.3..=1.0f64, r in 0.001..1.0f64) {
            let at = falls_below_at(0.2, c, r, Some(day(0.0))).unwrap();
            let second = TimeDelta::seconds(2);
            prop_assert!(effective_confidence(c, r, Some(day(0.0)), at + second) < 0.2);
            prop_assert!(effective_confidence(c, r, Some(day(0.0)), at - second) >= 0.2);
        }

        #[test]
        fn no_input_makes_decay_panic(c in any::<f64>(), r in any::<f64>(), t in any::<f64>(), d in any::<i32>()) {
            let from = DateTime::UNIX_EPOCH + TimeDelta::hours(i64::from(d));
            let _ = falls_below_at(t, c, r, Some(from));
            let _ = effective_confidence(c, r, Some(from), day(0.0));
        }
    }
}
