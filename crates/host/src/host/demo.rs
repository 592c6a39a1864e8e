//! The demo butler. It exists as long as its configuration file is in the data directory: the host reads the file at
//! start and watches it while the process runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use super::Host;
use crate::butler::Butler;
use crate::config::{self, ButlerConfig};
use crate::error::HostError;

pub const NAME: &str = "demo";

/// The path of the demo butler's configuration file.
pub fn config_file(data_dir: &Path) -> PathBuf {
    data_dir.join(NAME).join("butler.toml")
}

pub(super) struct DemoConfig {
    pub config: ButlerConfig,
    pub text: String,
}

/// Loads the demo butler's configuration. `None` if there is no demo, if the user has a butler with the same name, or
/// if the file cannot be read; the last two are logged.
pub(super) fn load(data_dir: &Path, others: &[ButlerConfig]) -> Option<DemoConfig> {
    let path = config_file(data_dir);
    let text = fs::read_to_string(&path).ok()?;
    if others.iter().any(|config| config.name == NAME) {
        tracing::warn!(file = %path.display(), "the demo does not start: the roster has a butler called {NAME}");
        return None;
    }
    match config::load(&path, NAME) {
        Ok(config) => Some(DemoConfig { config, text }),
        Err(error) => {
            tracing::warn!(%error, "the demo does not start; `butler demo` creates it again");
            None
        }
    }
}

impl Host {
    /// Starts, restarts or stops the demo butler after `butler demo` has created, changed or removed its configuration.
    pub(crate) async fn follow_demo(&self) {
        let path = config_file(&self.options.data_dir);
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
        let Some(found) = text.and_then(|_| load(&self.options.data_dir, &others)) else { return };
        match self.add(found.config).await {
            Ok(butler) => {
                butler.start_workers().await;
                tracing::info!(butler = NAME, "the demo has started");
            }
            Err(error) => tracing::error!(butler = NAME, %error, "the demo cannot start"),
        }
    }

    /// Starts a butler and appends it to the list once it has started.
    async fn add(&self, config: ButlerConfig) -> Result<Arc<Butler>, HostError> {
        let butler = Arc::new(Butler::new(config)?);
        if self.external_url(&butler).is_none() {
            self.ensure_private(Arc::new(butler_fetch::Silent)).await?;
        }
        self.start_butler(&butler).await?;
        self.butlers.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&butler));
        Ok(butler)
    }

    /// Removes and stops a butler. Calls in flight fail.
    async fn remove(&self, name: &str) {
        let removed = {
            let mut butlers = self.butlers.write().unwrap_or_else(PoisonError::into_inner);
            let index = butlers.iter().position(|butler| butler.name.as_str() == name);
            index.map(|index| butlers.remove(index))
        };
        if let Some(butler) = removed {
            butler.stop().await;
            tracing::info!(butler = name, "the demo has stopped");
        }
    }

    /// Deletes everything a butler has stored. The private PostgreSQL must be running if the butler uses it.
    pub async fn drop_data(&self, butler: &Butler) -> Result<(), HostError> {
        let name = butler.name.as_str();
        let dropped = match (self.external_url(butler), self.private.read().await.as_ref()) {
            (Some(url), _) => butler_store::drop_schema(url, &butler.config.file.butler.database.schema).await,
            (None, Some(server)) => butler_store::drop_database(&server.url("postgres"), name).await,
            (None, None) => Ok(()),
        };
        dropped.map_err(|source| HostError::Store { butler: name.to_owned(), source })
    }
}
