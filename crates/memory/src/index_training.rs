//! Decides when the vector indexes are retrained, and retrains them. They must follow the data to stay fast and
//! accurate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use butler_domain::Timestamp;
use butler_store::search::train::{Trained, retrain};
use chrono::TimeDelta;
use tokio::sync::Notify;

use crate::{Memory, MemoryError};

/// The minimum time between two requests from searches: training takes a while, may run in another process, or may
/// fail.
const REQUEST_INTERVAL: TimeDelta = TimeDelta::minutes(10);

/// The indexes are checked after this many writes, later after as many as a quarter of all writes so far. Searches
/// would notice an outgrown index as well, but only when it already makes them slow.
const CHECK_AFTER_WRITES: u64 = 1000;

/// Wakes the training job. Searches that find an outgrown index request it, and so do many writes.
#[derive(Debug, Default)]
pub(crate) struct TrainingSignal {
    notify: Notify,
    /// When a search last requested training; `None` after a training.
    requested_at: Mutex<Option<Timestamp>>,
    /// Number of memories that this process has written.
    written: AtomicU64,
    /// The value of `written` at the last check.
    written_at_last_check: AtomicU64,
}

impl TrainingSignal {
    /// Counts written memories and requests a check after many of them.
    pub fn record_writes(&self, memories: u64) {
        let written = self.written.fetch_add(memories, Ordering::Relaxed) + memories;
        let last = self.written_at_last_check.load(Ordering::Relaxed);
        if written.saturating_sub(last) >= CHECK_AFTER_WRITES.max(last / 4)
            && self.written_at_last_check.compare_exchange(last, written, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.notify.notify_one();
        }
    }

    /// Allows the next request at once: an index that is outgrown again right after its training grows fast.
    fn reset(&self) {
        *self.requested_at.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Requests training, unless it was requested recently.
    pub fn request(&self, now: Timestamp) {
        let mut requested_at = self.requested_at.lock().unwrap_or_else(PoisonError::into_inner);
        // The absolute difference keeps a clock that was set back from suppressing requests for as long.
        if requested_at.is_none_or(|at| (now - at).abs() >= REQUEST_INTERVAL) {
            *requested_at = Some(now);
            self.notify.notify_one();
        }
    }
}

impl Memory {
    /// Waits until a search finds an outgrown vector index, or many memories have been written. A request made before
    /// the call counts too. The host then runs the job that calls [`Self::retrain_indexes`].
    pub async fn retraining_requested(&self) {
        self.training().notify.notified().await;
    }

    /// Retrains each vector index whose data has grown enough. Reads and writes continue meanwhile.
    pub async fn retrain_indexes(&self) -> Result<Vec<Trained>, MemoryError> {
        let mut conn = self.db().owner().await?;
        let trained = retrain(&mut conn).await?;
        if !trained.is_empty() {
            self.pools().forget();
            self.training().reset();
        }
        Ok(trained)
    }

    /// Discards the cached statistics of the stores, for example after a bulk load. The next call reads them again.
    pub fn forget_pools(&self) {
        self.pools().forget();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_request_notifies_at_once_and_then_not_again_for_a_while() {
        let training = TrainingSignal::default();
        let start = Timestamp::UNIX_EPOCH;
        let notified = || training.notify.notified().now_or_never().is_some();
        training.request(start);
        training.request(start);
        assert!(notified());
        for seconds in [0, 1, 599] {
            training.request(start + TimeDelta::seconds(seconds));
            assert!(!notified(), "{seconds}");
        }
        training.request(start + REQUEST_INTERVAL);
        assert!(notified());
        training.request(start);
        assert!(notified(), "the clock was set back");
        training.reset();
        training.request(start);
        assert!(notified(), "a request right after a training is accepted");
    }

    #[test]
    fn the_indexes_are_checked_after_many_writes_with_growing_intervals() {
        let training = TrainingSignal::default();
        let checks = |writes: u64| {
            (0..writes)
                .filter(|_| {
                    training.record_writes(1);
                    training.notify.notified().now_or_never().is_some()
                })
                .count()
        };
        assert_eq!((checks(999), checks(1), checks(999), checks(1)), (0, 1, 0, 1));
        let (up_to_10k, up_to_100k) = (checks(8_000), checks(90_000));
        assert!((4..=8).contains(&up_to_10k) && (8..=12).contains(&up_to_100k), "{up_to_10k} and {up_to_100k}");
        training.record_writes(100_000);
        assert!(training.notify.notified().now_or_never().is_some(), "an import");
    }
}
