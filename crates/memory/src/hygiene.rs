//! What keeps retrieval fast and exact as the data grows; a job runs it.

use std::sync::{Mutex, PoisonError};

use chrono::TimeDelta;
use domain::{TenantId, Timestamp};
use store::search::train::{Trained, retrain};
use tokio::sync::Notify;

use crate::{Memory, MemoryError};

/// How soon a search may ask for training again: what it asks for takes a while, may be done by another process, or fails.
const TRAINING_PAUSE: TimeDelta = TimeDelta::minutes(10);

/// Rung by a search that finds an index outgrown, and then not for a while, whatever becomes of it.
#[derive(Debug, Default)]
pub(crate) struct TrainingBell {
    bell: Notify,
    rung: Mutex<Option<Timestamp>>,
}

impl TrainingBell {
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
    /// Returns when a search has found a vector index outgrown (also one that came before this was called).
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
        }
        Ok(trained)
    }

    /// What retrieval knows about the stores is learnt anew by the next call: after a bulk load, for instance.
    pub fn forget_pools(&self) {
        self.pools().forget();
    }

    /// The least a statement of a reader costs: the floor of the benchmarks.
    pub async fn ping(&self, tenant: &TenantId) -> Result<(), MemoryError> {
        let mut conn = self.db().reader(tenant).await?;
        Ok(store::search::ping(&mut conn).await?)
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
    }
}
