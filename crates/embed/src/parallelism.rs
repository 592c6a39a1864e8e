//! Chooses whether a single batch runs on all cores or on one. On an idle machine all cores are faster; on a busy one
//! the threads wait for each other. Only measuring shows which is the case.

use std::time::Duration;

/// The slower alternative is tried again after this many batches, because the load of the machine may have changed.
const PROBE_INTERVAL: u32 = 16;

/// The weight of a measurement that is slower than the estimate, because it may be an outlier. A faster one replaces
/// the estimate at once; otherwise it would take many probes to notice that the machine has become idle.
const SLOWER_WEIGHT: f32 = 0.25;

/// The fixed cost of a forward pass, in tokens: mostly reading the weights. From the times of 8 and 256 tokens on one core.
const OVERHEAD_TOKENS: usize = 4;

/// Estimates of the time per token, in seconds; `None` before the first measurement.
#[derive(Debug, Default)]
pub struct ParallelismChooser {
    all_cores: Option<f32>,
    one_core: Option<f32>,
    batches: u32,
}

impl ParallelismChooser {
    /// Whether to run the next batch on all cores.
    pub fn use_all_cores(&mut self) -> bool {
        self.batches = self.batches.wrapping_add(1);
        match (self.all_cores, self.one_core) {
            (None, _) => true,
            (_, None) => false,
            (Some(all), Some(one)) => (all <= one) != self.batches.is_multiple_of(PROBE_INTERVAL),
        }
    }

    /// Records how long a batch took.
    pub fn record(&mut self, all_cores: bool, tokens: usize, time: Duration) {
        let cost = time.as_secs_f32() / (tokens + OVERHEAD_TOKENS) as f32;
        let estimate = if all_cores { &mut self.all_cores } else { &mut self.one_core };
        *estimate = Some(match *estimate {
            Some(before) if cost > before => before + (cost - before) * SLOWER_WEIGHT,
            _ => cost,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of 64 batches run on all cores, if that takes `all_ms` milliseconds and one core takes `one_ms`.
    fn on_all_cores(chooser: &mut ParallelismChooser, all_ms: u64, one_ms: u64) -> usize {
        let batch = |_: &usize| {
            let all = chooser.use_all_cores();
            chooser.record(all, 32, Duration::from_millis(if all { all_ms } else { one_ms }));
            all
        };
        (0..64).filter(batch).count()
    }

    #[test]
    fn the_faster_alternative_is_used_and_the_other_probed_now_and_then() {
        let mut chooser = ParallelismChooser::default();
        let idle = on_all_cores(&mut chooser, 3, 5);
        assert!((58..64).contains(&idle), "{idle} of 64 on an idle machine");
        let busy = on_all_cores(&mut chooser, 40, 15);
        assert!((4..12).contains(&busy), "{busy} of 64 on a busy machine");
        let idle = on_all_cores(&mut chooser, 3, 5);
        assert!(idle > 40, "{idle} of 64 on a machine that is idle again");
    }
}
