//! What keeps retrieval fast and exact as the data grows; a job runs it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use butler_domain::Timestamp;
use butler_store::search::train::{Trained, retrain};
use chrono::TimeDelta;
use tokio::sync::Notify;

use crate::{Memory, MemoryError};

/// How soon a search may ask for training again: what it asks for takes a while, may be done by another process, or fails.
const TRAINING_PAUSE: TimeDelta = TimeDelta::minutes(10);

/// After so many writes the indexes are looked at, and then after a quarter of all writes so far, but no fewer than these.
/// Searches would find them outgrown, too, but only then: those that come while they are trained are slow.
const LOOK_AFTER: u64 = 1000;

/// Rung by a search that finds an index outgrown, and then not for a while unless it was trained; and after many writes.
#[derive(Debug, Default)]
pub(crate) struct TrainingBell {
    bell: Notify,
    rung: Mutex<Option<Timestamp>>,
    /// Memories this process has written …
    written: AtomicU64,
    /// … and had written when the indexes were last looked at.
    looked_at: AtomicU64,
}

impl TrainingBell {
    pub fn wrote(&self, memories: u64) {
        let written = self.written.fetch_add(memories, Ordering::Relaxed) + memories;
        let looked_at = self.looked_at.load(Ordering::Relaxed);
        if written.saturating_sub(looked_at) >= LOOK_AFTER.max(looked_at / 4)
            && self.looked_at.compare_exchange(looked_at, written, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.bell.notify_one();
        }
    }

    /// An index that was trained and is outgrown again grows fast: no reason to wait.
    fn trained(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub fn ring(&self, now: Timestamp) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not silence it for as long.
        if rung.is_none_or(|at| (now - at).abs() >= TRAINING_PAUSE) {
            *rung = Some(now);
            self.bell.notify_one();
        }
    }
}

impl Memory {
    /// Returns when a search has found a vector index outgrown, or many memories were written (also before this was called).
    /// The host waits here and then runs the job that calls [`Self::retrain_indexes`].
    pub async fn retraining_wanted(&self) {
        self.training().bell.notified().await;
    }

    /// Trains each vector index on the data it holds by now, if that has grown enough. Readers and writers go on.
    pub async fn retrain_indexes(&self) -> Result<Vec<Trained>, MemoryError> {
        let mut conn = self.db().owner().await?;
        let trained = retrain(&mut conn).await?;
        if !trained.is_empty() {
            self.pools().forget();
            self.training().trained();
        }
        Ok(trained)
    }

    /// What retrieval knows about the stores is learnt anew by the next call: after a bulk load, for instance.
    pub fn forget_pools(&self) {
        self.pools().forget();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn training_is_asked_for_at_once_and_then_not_again_for_a_while() {
        let training = TrainingBell::default();
        let start = Timestamp::UNIX_EPOCH;
        let rung = || training.bell.notified().now_or_never().is_some();
        training.ring(start);
        training.ring(start);
        assert!(rung());
        for seconds in [0, 1, 599] {
            training.ring(start + TimeDelta::seconds(seconds));
            assert!(!rung(), "{seconds}");
        }
        training.ring(start + TRAINING_PAUSE);
        assert!(rung());
        training.ring(start);
        assert!(rung(), "the clock was set back");
        training.trained();
        training.ring(start);
        assert!(rung(), "what was trained may be outgrown again at once");
    }

    #[test]
    fn the_indexes_are_looked_at_after_many_writes_and_ever_more_seldom() {
        let training = TrainingBell::default();
        let looks = |writes: u64| {
            (0..writes)
                .filter(|_| {
                    training.wrote(1);
                    training.bell.notified().now_or_never().is_some()
                })
                .count()
        };
        assert_eq!((looks(999), looks(1), looks(999), looks(1)), (0, 1, 0, 1));
        let (to_ten, to_a_hundred) = (looks(8_000), looks(90_000));
        assert!((4..=8).contains(&to_ten) && (8..=12).contains(&to_a_hundred), "{to_ten} and {to_a_hundred}");
        training.wrote(100_000);
        assert!(training.bell.notified().now_or_never().is_some(), "an import");
    }
}
