//! Several butlers in one process: one that cannot start is told of and tried again, and the others serve.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;

use super::Host;
use crate::error::HostError;

/// A connection nobody used for so long is given back: butlers that share a server have only so many. Longer than the
/// scheduler's longest sleep, or a quiet butler would connect anew for each look at its schedules.
const IDLE: Duration = Duration::from_secs(30);

/// A migration keeps a core busy; more of them at once only wait for each other.
fn starts_at_once() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from)
}

impl Host {
    /// Fails when none could be started; with one butler that is the one.
    pub(super) async fn start_each(&self) -> Result<(), HostError> {
        let butlers = self.butlers();
        let room = Semaphore::new(starts_at_once());
        let starts = butlers.iter().map(|butler| async {
            let _room = room.acquire().await;
            self.start_butler(butler).await
        });
        let started = join_all(starts).await;
        let none = started.iter().all(Result::is_err);
        for (butler, started) in butlers.iter().zip(started) {
            let Err(error) = started else { continue };
            if none {
                return Err(error);
            }
            tracing::error!(butler = %butler.name, %error, "this butler could not start; it is tried again");
            butler.set_trouble(Some(Arc::new(error)));
        }
        Ok(())
    }

    /// Tries those that could not start before.
    pub(crate) async fn retry_failed(&self) {
        for butler in self.butlers() {
            let Some(before) = butler.trouble() else { continue };
            match self.start_butler(&butler).await {
                Ok(()) => {
                    butler.set_trouble(None);
                    butler.start_workers().await;
                    tracing::info!(butler = %butler.name, "this butler has started at last");
                }
                Err(error) => {
                    if error.to_string() != before.to_string() {
                        tracing::error!(butler = %butler.name, %error, "this butler still cannot start");
                    }
                    butler.set_trouble(Some(Arc::new(error)));
                }
            }
        }
    }

    /// Reads go to a replica only while it follows its primary.
    pub(crate) async fn look_at_replicas(&self) {
        for butler in self.butlers() {
            if let Some(database) = butler.database() {
                database.look_at_replica().await;
            }
        }
    }

    pub(crate) async fn close_idle_connections(&self) {
        for butler in self.butlers() {
            if let Some(database) = butler.database() {
                database.close_idle(IDLE).await;
            }
        }
    }
}
