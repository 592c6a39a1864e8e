//! Several butlers in one process: one that cannot start is told of and tried again, and the others serve.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use super::Host;
use crate::error::HostError;

/// A connection nobody used for so long is given back: butlers that share a server have only so many. Longer than the
/// scheduler's longest sleep, or a quiet butler would connect anew for each look at its schedules.
const IDLE: Duration = Duration::from_secs(30);

impl Host {
    /// Fails when none could be started; with one butler that is the one.
    pub(super) async fn start_each(&self) -> Result<(), HostError> {
        let butlers = self.butlers();
        let started = join_all(butlers.iter().map(|butler| self.start_butler(butler))).await;
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

    pub(crate) async fn close_idle_connections(&self) {
        for butler in self.butlers() {
            if let Some(database) = butler.database() {
                database.close_idle(IDLE).await;
            }
        }
    }
}
