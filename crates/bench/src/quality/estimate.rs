//! Means over questions with bootstrap intervals.

use crate::facts::Dice;

/// Resamples per interval. More would move the bounds by less than the third digit.
const RESAMPLES: usize = 2000;
/// The same in every run, so that equal results have equal intervals.
const SEED: u64 = 19;

/// A mean and its 95 % confidence interval.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    pub mean: f64,
    pub interval: [f64; 2],
}

/// The mean of the questions' values. The interval comes from drawing the questions again, with replacement.
pub fn estimate(values: &[f64]) -> Estimate {
    if values.is_empty() {
        return Estimate { mean: f64::NAN, interval: [f64::NAN; 2] };
    }
    let mut dice = Dice::new(SEED);
    let mut resample =
        || (0..values.len()).map(|_| values[dice.below(values.len())]).sum::<f64>() / values.len() as f64;
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
    means.sort_by(f64::total_cmp);
    let at = |quantile: f64| means[(quantile * (RESAMPLES - 1) as f64).round() as usize];
    Estimate { mean: values.iter().sum::<f64>() / values.len() as f64, interval: [at(0.025), at(0.975)] }
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn the_interval_contains_the_mean_and_is_the_same_every_time() {
        let values: Vec<f64> = (0..100).map(|n| f64::from(n % 4 == 0)).collect();
        let (first, second) = (estimate(&values), estimate(&values));
        assert!((first.mean - 0.25).abs() < 1e-12);
        assert!(
            first.interval[0] > 0.15
                && first.interval[0] < 0.25
                && first.interval[1] > 0.25
                && first.interval[1] < 0.35
        );
        assert_eq!(first.interval, second.interval);
    }

    #[test]
    fn nothing_measured_is_not_a_number() {
        assert!(estimate(&[]).mean.is_nan());
    }
}
