//! The scratch butler that `butler demo` fills. It is there as long as its configuration lies in the data directory:
//! read at start, and followed while the process runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use super::Host;
use crate::butler::Butler;
use crate::config::{self, ButlerConfig};
use crate::error::HostError;

pub const NAME: &str = "demo";

/// The demo's configuration; while it is there, so is the butler.
pub fn marker(data_dir: &Path) -> PathBuf {
    data_dir.join(NAME).join("butler.toml")
}

pub(super) struct Found {
    pub config: ButlerConfig,
    pub text: String,
}

/// `None`: there is none, the user has a butler of that name, or it cannot be read (which the log tells).
pub(super) fn beside(data_dir: &Path, others: &[ButlerConfig]) -> Option<Found> {
    let path = marker(data_dir);
    let text = fs::read_to_string(&path).ok()?;
    if others.iter().any(|config| config.name == NAME) {
        tracing::warn!(file = %path.display(), "a butler of the roster is called {NAME} as well; the demo is left out");
        return None;
    }
    match config::load(&path, NAME) {
        Ok(config) => Some(Found { config, text }),
        Err(error) => {
            tracing::warn!(%error, "the demo is left out; `butler demo` makes it anew");
            None
        }
    }
}

impl Host {
    /// Brings what is served into line with what `butler demo` made or removed.
    pub(crate) async fn follow_demo(&self) {
        let path = marker(&self.options.data_dir);
        let mut served = self.demo.lock().await;
        let text = fs::read_to_string(&path).ok();
        if *served == text {
            return;
        }
        if served.is_some() {
            self.remove(NAME).await;
        }
        served.clone_from(&text);
        let others: Vec<ButlerConfig> = self.butlers().iter().map(|butler| butler.config.clone()).collect();
        let Some(found) = text.and_then(|_| beside(&self.options.data_dir, &others)) else { return };
        match self.add(found.config).await {
            Ok(butler) => {
                butler.start_workers().await;
                tracing::info!(butler = NAME, "the demo is here");
            }
            Err(error) => tracing::error!(butler = NAME, %error, "the demo cannot be started"),
        }
    }

    /// One more butler, last in the order. It is seen by others when it has started.
    async fn add(&self, config: ButlerConfig) -> Result<Arc<Butler>, HostError> {
        let butler = Arc::new(Butler::new(config)?);
        if self.own_url(&butler).is_none() {
            self.ensure_private(Arc::new(butler_fetch::Silent)).await?;
        }
        self.start_butler(&butler).await?;
        self.butlers.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&butler));
        Ok(butler)
    }

    /// What it was doing ends with an error.
    async fn remove(&self, name: &str) {
        let removed = {
            let mut butlers = self.butlers.write().unwrap_or_else(PoisonError::into_inner);
            let at = butlers.iter().position(|butler| butler.name.as_str() == name);
            at.map(|at| butlers.remove(at))
        };
        if let Some(butler) = removed {
            butler.stop().await;
            tracing::info!(butler = name, "the demo is gone");
        }
    }

    /// Everything a butler ever stored; the private PostgreSQL must have been started.
    pub async fn drop_home(&self, butler: &Butler) -> Result<(), HostError> {
        let name = butler.name.as_str();
        let dropped = match (self.own_url(butler), self.private.read().await.as_ref()) {
            (Some(url), _) => butler_store::drop_schema(url, &butler.config.file.butler.database.schema).await,
            (None, Some(server)) => butler_store::drop_database(&server.url("postgres"), name).await,
            (None, None) => Ok(()),
        };
        dropped.map_err(|source| HostError::Store { butler: name.to_owned(), source })
    }
}
