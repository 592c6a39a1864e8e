//! Time that survives a wrong clock: writes are dated with the believed time, and jobs that delete or expire memories
//! wait while the clock is in doubt.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use butler_domain::Timestamp;
use butler_domain::clock::Reading;
use butler_domain::clock::guard::{ClockGuard, MarkChange};
use butler_store::clock_mark;
use tokio::sync::Mutex;

use crate::{Memory, MemoryError};

/// How often a trusted clock is written to the database. Many butlers share its connections.
const RECORD_EVERY: Duration = Duration::from_secs(600);

#[derive(Default)]
pub(crate) struct ClockWatch {
    /// Locked while the clock is compared with the database. Of two concurrent comparisons, one could mistake the
    /// other's write for a person's acceptance of the time.
    state: Mutex<State>,
    /// Why jobs that delete wait, for readers that must not wait.
    doubt: RwLock<Option<String>>,
    /// The last trusted time; `None` before the first reading of the clock.
    believed: RwLock<Option<Reading>>,
    /// Whether the clock is part of a simulation, and so always right.
    is_simulated: bool,
}

impl ClockWatch {
    pub fn simulated() -> Self {
        Self { is_simulated: true, ..Self::default() }
    }
}

#[derive(Default)]
struct State {
    guard: ClockGuard,
    /// When the clock was last compared with the database, on the monotonic clock.
    compared_at: Option<Duration>,
}

impl Memory {
    /// The current time, also while the clock is wrong, so that a clock that was set ahead or back does not date
    /// memories.
    pub fn now(&self) -> Timestamp {
        let now = Reading::of(self.clock());
        let believed = *self.clock_watch().believed.read().unwrap_or_else(PoisonError::into_inner);
        believed.map_or(now.wall, |believed| believed.corrected(now))
    }

    /// The time, for a job that deletes or expires memories. Fails while the clock is in doubt.
    pub(crate) async fn trusted_now(&self) -> Result<Timestamp, MemoryError> {
        let now = Reading::of(self.clock());
        if self.clock_watch().is_simulated {
            return Ok(now.wall);
        }
        let mut state = self.clock_watch().state.lock().await;
        self.compare_clock(&mut state, now).await?;
        match state.guard.held() {
            None => Ok(now.wall),
            Some(reason) => Err(MemoryError::ClockInDoubt { reason: reason.to_owned() }),
        }
    }

    /// Notices a jump of the clock. A worker calls it every few seconds.
    pub async fn watch_clock(&self) -> Result<(), MemoryError> {
        if self.clock_watch().is_simulated {
            return Ok(());
        }
        let now = Reading::of(self.clock());
        let mut state = self.clock_watch().state.lock().await;
        state.guard.observe(now);
        self.publish(&state.guard);
        let is_recent = state.compared_at.is_some_and(|at| now.monotonic.saturating_sub(at) < RECORD_EVERY);
        if state.guard.held().is_none() && is_recent {
            return Ok(());
        }
        self.compare_clock(&mut state, now).await
    }

    /// Why jobs that delete or expire memories wait; `None` if the clock is trusted.
    pub fn clock_doubt(&self) -> Option<String> {
        self.clock_watch().doubt.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Trusts the present time, also for the other processes of this butler. Returns the time, and why it was in doubt.
    pub async fn accept_clock(&self) -> Result<(Timestamp, Option<String>), MemoryError> {
        let now = Reading::of(self.clock());
        let mut state = self.clock_watch().state.lock().await;
        let mut conn = self.db().owner().await?;
        let doubt = clock_mark::read(&mut conn).await?.hold;
        clock_mark::change(&mut conn, &MarkChange::Accept(now.wall)).await?;
        drop(conn);
        state.guard = ClockGuard::default();
        self.compare_clock(&mut state, now).await?;
        Ok((now.wall, doubt))
    }

    async fn compare_clock(&self, state: &mut State, now: Reading) -> Result<(), MemoryError> {
        let compared = async {
            let mut conn = self.db().owner().await?;
            let mark = clock_mark::read(&mut conn).await?;
            if let Some(change) = state.guard.compare(now, &mark) {
                clock_mark::change(&mut conn, &change).await?;
            }
            state.guard.recorded();
            state.compared_at = Some(now.monotonic);
            Ok(())
        };
        let compared = compared.await;
        // Published even if the database is unavailable: the process's own readings are enough to doubt the clock.
        self.publish(&state.guard);
        compared
    }

    fn publish(&self, guard: &ClockGuard) {
        *self.clock_watch().believed.write().unwrap_or_else(PoisonError::into_inner) = guard.believed();
        let doubt = guard.held();
        let mut published = self.clock_watch().doubt.write().unwrap_or_else(PoisonError::into_inner);
        match (published.as_deref(), doubt) {
            (None, Some(reason)) => tracing::warn!(
                butler = %self.butler(),
                reason,
                "the time is in doubt: jobs that delete or expire memories wait until the clock is right, has been steady \
                 for an hour, or is accepted with `butler jobs accept-clock`"
            ),
            (Some(_), None) => tracing::info!(butler = %self.butler(), "the clock is trusted again"),
            _ => {}
        }
        *published = doubt.map(str::to_owned);
    }
}
