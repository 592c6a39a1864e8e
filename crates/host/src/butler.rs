//! One butler: its configuration, its modules, their tools, and its home in a database.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use butler_domain::Clock;
use butler_embed::Embedder;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_store::{Connections, Database, DatabaseOptions};
use tokio::sync::Mutex;

use crate::config::ButlerConfig;
use crate::error::HostError;
use crate::module::{Module, Parts, Registry, in_order};
use crate::scheduler::{HostJob, Jobs};
use crate::{modules, runtime};

pub struct Butler {
    pub name: butler_domain::Butler,
    pub config: ButlerConfig,
    registry: Registry,
    modules: Mutex<Vec<Box<dyn Module>>>,
    database: OnceLock<Database>,
    /// What the host does for this butler on a schedule; set once it has started.
    beside: OnceLock<Vec<Arc<dyn HostJob>>>,
    /// Why it could not start, while others could.
    trouble: RwLock<Option<Arc<HostError>>>,
}

impl Butler {
    /// Knows its tools already, but has no database yet.
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
            beside: OnceLock::new(),
            trouble: RwLock::default(),
        })
    }

    pub fn tools(&self) -> &Registry {
        &self.registry
    }

    pub fn trouble(&self) -> Option<Arc<HostError>> {
        self.trouble.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, trouble: Option<Arc<HostError>>) {
        *self.trouble.write().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// There once the butler has started.
    pub fn database(&self) -> Option<&Database> {
        self.database.get()
    }

    /// Connects (`kept_alive`: to a server that this process looks after), migrates, and starts the modules in the order of their dependencies.
    pub async fn start(
        &self,
        url: String,
        kept_alive: bool,
        connections: Connections,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
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
            // The host's own tables, tokens among them, come with the same migrations.
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
                runtime: runtime.clone(),
            };
            module.on_startup(parts).await?;
        }
        let _ = self.database.set(database);
        Ok(())
    }

    /// The configured LLM. One that cannot work (a key that is not set) is as none: memory serves all the same, and
    /// says so in the log, in doctor and in each consolidation.
    fn runtime(&self) -> Option<Arc<dyn butler_memory::runtime::Runtime>> {
        match runtime::from_config(self.config.file.butler.runtime.as_ref()?) {
            Ok(runtime) => Some(runtime),
            Err(error) => {
                tracing::error!(butler = %self.name, %error, "there is no LLM: consolidation only counts");
                None
            }
        }
    }

    /// In a process that stays: schedules begin.
    pub async fn start_workers(&self) {
        for module in self.modules.lock().await.iter_mut() {
            module.start_workers(self.beside());
        }
    }

    pub(crate) fn set_beside(&self, jobs: Vec<Arc<dyn HostJob>>) {
        let _ = self.beside.set(jobs);
    }

    fn beside(&self) -> Vec<Arc<dyn HostJob>> {
        self.beside.get().cloned().unwrap_or_default()
    }

    /// There once the butler has started, unless its memory module is left out.
    pub async fn jobs(&self) -> Option<Jobs> {
        Some(Jobs::new(self.memory().await?, self.beside()))
    }

    /// Likewise.
    pub async fn memory(&self) -> Option<Arc<butler_memory::Memory>> {
        self.modules.lock().await.iter().find_map(|module| module.memory())
    }

    /// Stops the modules, last started first, then closes the connections.
    pub async fn stop(&self) {
        for module in self.modules.lock().await.iter_mut().rev() {
            module.on_shutdown().await;
        }
        if let Some(database) = self.database() {
            database.close().await;
        }
    }
}

pub fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
    ToolError { hint: Some(hint.into()), ..ToolError::new(ErrorCode::Unavailable, message) }
}
