//! The memory module of a butler.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use butler_embed::Embedder;
use butler_memory::tool::{Answer, Tool, ToolCall, ToolError, ToolSpec};
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, Migrated, StoreError};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::error::unavailable;
use crate::module::{HostTool, Module, ModuleError, Parts, Registry};
use crate::scheduler::{self, HostJob, Jobs, Scheduler};

/// A check of the schedules takes milliseconds.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// The memory that the tools use. It exists between startup and shutdown.
type Slot = Arc<RwLock<Option<Arc<Memory>>>>;

pub struct MemoryModule {
    config: MemoryConfig,
    database: Option<Database>,
    embedder: Option<Arc<dyn Embedder>>,
    memory: Slot,
    /// The scheduler, and the task that runs it.
    scheduler: Option<(Arc<Scheduler>, JoinHandle<()>)>,
}

impl MemoryModule {
    pub const NAME: &'static str = "memory";

    pub fn new(config: MemoryConfig) -> Self {
        Self { config, database: None, embedder: None, memory: Slot::default(), scheduler: None }
    }

    pub fn config(&self) -> &MemoryConfig {
        &self.config
    }

    pub fn database(&self) -> Option<&Database> {
        self.database.as_ref()
    }

    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    pub fn memory(&self) -> Option<Arc<Memory>> {
        read(&self.memory)
    }

    fn set(&mut self, memory: Option<Arc<Memory>>) {
        *self.memory.write().unwrap_or_else(PoisonError::into_inner) = memory;
    }
}

fn read(slot: &Slot) -> Option<Arc<Memory>> {
    slot.read().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Module for MemoryModule {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn migrations<'a>(&'a self, database: &'a Database) -> BoxFuture<'a, Result<Migrated, StoreError>> {
        database.migrate().boxed()
    }

    fn on_startup(&mut self, parts: Parts) -> BoxFuture<'_, Result<(), ModuleError>> {
        async move {
            self.database = Some(parts.database.clone());
            self.embedder = Some(Arc::clone(&parts.embedder));
            let memory = Memory::new(MemoryParts {
                butler: parts.butler,
                db: parts.database,
                embedder: parts.embedder,
                clock: parts.clock,
                config: self.config.clone(),
            });
            let memory = match parts.backups {
                Some(backups) => memory.with_backups(backups),
                None => memory,
            };
            // Before the first write. If it fails, the scheduler checks the clock again.
            let _ = memory.watch_clock().await;
            if let Some(owner) = &parts.owner
                && let Err(error) = memory.mark_owner(owner).await
            {
                tracing::warn!(%error, "[butler] owner has no effect");
            }
            self.set(Some(Arc::new(match parts.runtime {
                Some(runtime) => memory.with_runtime(runtime),
                None => memory,
            })));
            Ok(())
        }
        .boxed()
    }

    fn register_tools(&self, registry: &mut Registry) {
        for tool in butler_memory::tools() {
            registry.add(Arc::new(MemoryTool { tool, memory: Arc::clone(&self.memory) }));
        }
    }

    fn start_workers(&mut self, beside: Vec<Arc<dyn HostJob>>) {
        let Some(memory) = read(&self.memory).filter(|_| self.scheduler.is_none()) else { return };
        let scheduler = Scheduler::new(Jobs::new(memory, beside), scheduler::worker_name());
        let task = tokio::spawn(Arc::clone(&scheduler).run());
        self.scheduler = Some((scheduler, task));
    }

    fn memory(&self) -> Option<Arc<Memory>> {
        read(&self.memory)
    }

    fn on_shutdown(&mut self) -> BoxFuture<'_, ()> {
        async move {
            if let Some((scheduler, mut task)) = self.scheduler.take() {
                scheduler.shut_down().await;
                // Otherwise a check of the schedules that is in progress would find the connections closed and log
                // errors.
                if tokio::time::timeout(SHUTDOWN_GRACE, &mut task).await.is_err() {
                    task.abort();
                }
            }
            if let Some(memory) = self.memory() {
                memory.start_conflict_search();
            }
            self.set(None);
            self.embedder = None;
            self.database = None;
        }
        .boxed()
    }
}

struct MemoryTool {
    tool: Tool,
    memory: Slot,
}

impl HostTool for MemoryTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.tool.spec()
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<Answer, ToolError>> {
        async move {
            match read(&self.memory) {
                Some(memory) => self.tool.run(&memory, call).await,
                None => Err(unavailable("the memory module is not running", "try again in a moment")),
            }
        }
        .boxed()
    }
}
