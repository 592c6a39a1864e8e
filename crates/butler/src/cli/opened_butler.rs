//! Direct access to one butler's memory, for commands that do not go through its tools. It uses the owner role, and a
//! server may run at the same time.

use std::sync::Arc;

use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::create_data_dir;
use butler_memory::Memory;
use butler_store::backup::Erasure;
use butler_store::tokens::TokenRow;

use super::Settings;
use crate::progress;

pub struct OpenedButler {
    pub host: Arc<Host>,
    pub butler: Arc<Butler>,
    pub memory: Arc<Memory>,
}

impl OpenedButler {
    /// Starts this butler only. The model loads on first use, for example by an import that has to embed. The caller
    /// must call [`Self::close`], which also stops a private PostgreSQL that this command started.
    pub async fn open(settings: &Settings) -> Result<Self, HostError> {
        create_data_dir(&settings.host.data_dir)?;
        let host = Host::new(settings.host.clone())?;
        let butler = host.butler(settings.butler.as_deref())?;
        host.start_one(&butler, false, progress::on_stderr(settings.quiet)).await?;
        match butler.memory().await {
            Some(memory) => Ok(Self { host, butler, memory }),
            None => {
                let name = butler.name.to_string();
                host.stop().await?;
                Err(HostError::Failed(format!("butler {name:?} has no memory module: enable it in butler.toml")))
            }
        }
    }

    /// Lists the tokens in this butler's database.
    pub async fn tokens(&self) -> Result<Vec<TokenRow>, HostError> {
        let failed = |source| HostError::Store { butler: self.butler.name.to_string(), source };
        let mut conn = self.memory.db().owner().await.map_err(failed)?;
        butler_store::tokens::list(&mut conn).await.map_err(failed)
    }

    /// Lists what was erased since a moment, in all tenants.
    pub async fn erasures_since(&self, since: Timestamp) -> Result<Vec<Erasure>, HostError> {
        let failed = |source| HostError::Store { butler: self.butler.name.to_string(), source };
        let mut conn = self.memory.db().owner().await.map_err(failed)?;
        butler_store::backup::erasures_since(&mut conn, since).await.map_err(failed)
    }

    /// Stops what [`Self::open`] started and returns `outcome`.
    pub async fn close<T>(self, outcome: Result<T, HostError>) -> Result<T, HostError> {
        drop(self.memory);
        let stopped = self.host.stop().await;
        outcome.and_then(|value| stopped.map(|()| value))
    }
}
