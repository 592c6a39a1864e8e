//! Starts and maintains all butlers of the process. A butler that cannot start is retried while the others serve.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;

use super::Host;
use crate::error::HostError;

/// Connections idle for this long are closed, because butlers share the server's connections. It must be longer than
/// the scheduler's longest sleep, or an idle butler would reconnect for each check of its schedules.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// A migration keeps one core busy, so starting more butlers at once gains nothing.
fn max_concurrent_starts() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from)
}

impl Host {
    /// Starts all butlers. Fails only if none of them can start.
    pub(super) async fn start_each(&self) -> Result<(), HostError> {
        let butlers = self.butlers();
        let permits = Semaphore::new(max_concurrent_starts());
        let starts = butlers.iter().map(|butler| async {
            let _permit = permits.acquire().await;
            self.start_butler(butler).await
        });
        let started = join_all(starts).await;
        let none = started.iter().all(Result::is_err);
        for (butler, started) in butlers.iter().zip(started) {
            let Err(error) = started else { continue };
            if none {
                return Err(error);
            }
            tracing::error!(butler = %butler.name, %error, "the butler cannot start; trying again");
            butler.set_trouble(Some(Arc::new(error)));
        }
        Ok(())
    }

    /// Tries again to start the butlers that could not start.
    pub(crate) async fn retry_failed(&self) {
        for butler in self.butlers() {
            let Some(before) = butler.trouble() else { continue };
            match self.start_butler(&butler).await {
                Ok(()) => {
                    butler.set_trouble(None);
                    butler.start_workers().await;
                    tracing::info!(butler = %butler.name, "the butler has started");
                }
                Err(error) => {
                    if error.to_string() != before.to_string() {
                        tracing::error!(butler = %butler.name, %error, "the butler still cannot start");
                    }
                    butler.set_trouble(Some(Arc::new(error)));
                }
            }
        }
    }

    /// Checks how far each replica lags, which decides whether it serves reads.
    pub(crate) async fn check_replicas(&self) {
        for butler in self.butlers() {
            if let Some(database) = butler.database() {
                database.check_replica().await;
            }
        }
    }

    pub(crate) async fn close_idle_connections(&self) {
        for butler in self.butlers() {
            if let Some(database) = butler.database() {
                database.close_idle(IDLE_TIMEOUT).await;
            }
        }
    }
}
