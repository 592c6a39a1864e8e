//! One butler: its configuration, its modules and their tools, and its database.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use butler_domain::Clock;
use butler_embed::Embedder;
use butler_memory::backups::Backups;
use butler_store::{Connections, Database, DatabaseOptions};
use tokio::sync::Mutex;

use crate::config::ButlerConfig;
use crate::error::HostError;
use crate::module::{Module, Parts, Registry, in_order};
use crate::scheduler::{HostJob, Jobs};
use crate::{modules, runtime};

pub use butler_store::ReplicaState;

pub struct Butler {
    pub name: butler_domain::Butler,
    pub config: ButlerConfig,
    registry: Registry,
    modules: Mutex<Vec<Box<dyn Module>>>,
    database: OnceLock<Database>,
    /// Held while this butler's tokens are loaded.
    pub(crate) token_load: Mutex<()>,
    /// The jobs that the host runs for this butler on a schedule; set once it has started.
    host_jobs: OnceLock<Vec<Arc<dyn HostJob>>>,
    /// Why this butler could not start, although others could.
    trouble: RwLock<Option<Arc<HostError>>>,
}

impl Butler {
    /// Creates a butler with its tools, but without a database connection.
    pub fn new(config: ButlerConfig) -> Result<Self, HostError> {
        let modules = in_order(modules::enabled(&config.file.modules))?;
        let mut registry = Registry::default();
        for module in &modules {
            module.register_tools(&mut registry);
        }
        let name =
            butler_domain::Butler::new(config.name.as_str()).map_err(|error| HostError::Failed(error.to_string()))?;
        Ok(Self {
            name,
            config,
            registry,
            modules: Mutex::new(modules),
            database: OnceLock::new(),
            token_load: Mutex::default(),
            host_jobs: OnceLock::new(),
            trouble: RwLock::default(),
        })
    }

    pub fn tools(&self) -> &Registry {
        &self.registry
    }

    /// Why the butler could not start; `None` if it has started or is starting.
    pub fn trouble(&self) -> Option<Arc<HostError>> {
        self.trouble.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<Arc<HostError>>) {
        *self.trouble.write().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// The database; `None` until the butler has started.
    pub fn database(&self) -> Option<&Database> {
        self.database.get()
    }

    /// Connects to the database, migrates it, and starts the modules in the order of their dependencies. `kept_alive`
    /// says that this process restarts the database server if it dies.
    pub async fn start(
        &self,
        url: String,
        kept_alive: bool,
        connections: Connections,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        backups: Arc<dyn Backups>,
    ) -> Result<(), HostError> {
        let failed = |source| HostError::Store { butler: self.config.name.clone(), source };
        let section = &self.config.file.butler.database;
        let options = DatabaseOptions {
            read_url: section.read_url.clone(),
            schema: section.schema.clone(),
            pool_size: section.pool_size,
            connections,
            kept_alive,
            ..DatabaseOptions::new(url)
        };
        let database = Database::connect(options).await.map_err(failed)?;
        let runtime = self.runtime();
        let mut modules = self.modules.lock().await;
        if modules.is_empty() {
            // The same migrations create the host's own tables, such as the tokens.
            database.migrate().await.map_err(failed)?;
        }
        for module in modules.iter_mut() {
            let migrated = module.migrations(&database).await.map_err(failed)?;
            if !migrated.applied.is_empty() {
                tracing::info!(butler = %self.name, module = module.name(), to = migrated.to, "migrated the database");
            }
            let parts = Parts {
                butler: self.name.clone(),
                database: database.clone(),
                embedder: Arc::clone(&embedder),
                clock: Arc::clone(&clock),
                owner: self.config.file.butler.owner.clone(),
                runtime: runtime.clone(),
                backups: Some(Arc::clone(&backups)),
            };
            module.on_startup(parts).await?;
        }
        let _ = self.database.set(database);
        Ok(())
    }

    /// The configured LLM. If it is misconfigured, for example because its key is not set, the butler serves without
    /// one; the log, `butler doctor` and each consolidation say so.
    fn runtime(&self) -> Option<Arc<dyn butler_memory::runtime::Runtime>> {
        match runtime::from_config(self.config.file.butler.runtime.as_ref()?) {
            Ok(runtime) => Some(runtime),
            Err(error) => {
                tracing::error!(butler = %self.name, %error, "the LLM cannot be used; consolidation is a dry run");
                None
            }
        }
    }

    /// Starts the schedules, in a long-running process.
    pub async fn start_workers(&self) {
        for module in self.modules.lock().await.iter_mut() {
            module.start_workers(self.host_jobs());
        }
    }

    pub(crate) fn set_host_jobs(&self, jobs: Vec<Arc<dyn HostJob>>) {
        let _ = self.host_jobs.set(jobs);
    }

    fn host_jobs(&self) -> Vec<Arc<dyn HostJob>> {
        self.host_jobs.get().cloned().unwrap_or_default()
    }

    /// The butler's jobs; `None` until it has started, or if its memory module is not enabled.
    pub async fn jobs(&self) -> Option<Jobs> {
        Some(Jobs::new(self.memory().await?, self.host_jobs()))
    }

    /// The butler's memory; `None` until it has started, or if its memory module is not enabled.
    pub async fn memory(&self) -> Option<Arc<butler_memory::Memory>> {
        self.modules.lock().await.iter().find_map(|module| module.memory())
    }

    /// Stops the modules in reverse order, then closes the connections.
    pub async fn stop(&self) {
        for module in self.modules.lock().await.iter_mut().rev() {
            module.on_shutdown().await;
        }
        if let Some(database) = self.database() {
            database.close().await;
        }
    }
}
