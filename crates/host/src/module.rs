//! Modules, of which a butler consists: each has a lifecycle and brings tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use butler_embed::Embedder;
use butler_memory::Memory;
use butler_memory::backups::Backups;
use butler_memory::runtime::Runtime;
use butler_memory::tool::{Answer, ToolCall, ToolError, ToolSpec};
use butler_store::{Database, Migrated, StoreError};
use futures::future::BoxFuture;

use crate::scheduler::HostJob;

/// What a module receives when its butler starts.
#[derive(Clone)]
pub struct Parts {
    pub butler: butler_domain::Butler,
    pub database: Database,
    /// One engine for all butlers of the process.
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn butler_domain::Clock>,
    /// The person whose agents use the butler (`[butler] owner`).
    pub owner: Option<String>,
    /// The LLM, if one is configured.
    pub runtime: Option<Arc<dyn Runtime>>,
    /// The butler's backups, which an erasure lists.
    pub backups: Option<Arc<dyn Backups>>,
}

pub trait Module: Send + Sync {
    fn name(&self) -> &'static str;

    /// The modules that must have started before this one.
    fn dependencies(&self) -> &'static [&'static str] {
        &[]
    }

    /// Migrates this module's part of the butler's database to this program's version.
    fn migrations<'a>(&'a self, database: &'a Database) -> BoxFuture<'a, Result<Migrated, StoreError>>;

    fn on_startup(&mut self, parts: Parts) -> BoxFuture<'_, Result<(), ModuleError>>;

    /// Called once, before `on_startup`, because clients may list tools while the database still starts.
    fn register_tools(&self, registry: &mut Registry);

    /// Starts the module's background work, after `on_startup` and only in a long-running process. The module with the
    /// schedules also runs the host's jobs.
    fn start_workers(&mut self, _beside: Vec<Arc<dyn HostJob>>) {}

    fn on_shutdown(&mut self) -> BoxFuture<'_, ()>;

    /// The memory behind the tools, if the module has one.
    fn memory(&self) -> Option<Arc<Memory>> {
        None
    }
}

/// A tool bound to its module.
pub trait HostTool: Send + Sync {
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Runs the tool once. `Host::call` checks rights, retries, measures and catches panics.
    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<Answer, ToolError>>;
}

/// The tools of one butler by name, in registration order.
#[derive(Default, Clone)]
pub struct Registry {
    tools: Vec<Arc<dyn HostTool>>,
    by_name: BTreeMap<&'static str, usize>,
}

impl Registry {
    /// Adds a tool. If two tools have the same name, which is a bug, the first one stays.
    pub fn add(&mut self, tool: Arc<dyn HostTool>) {
        let name = tool.spec().name;
        if self.by_name.contains_key(name) {
            tracing::error!(tool = name, "ignored a second tool of this name");
            return;
        }
        self.by_name.insert(name, self.tools.len());
        self.tools.push(tool);
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn HostTool>> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn HostTool>> {
        self.tools.iter()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    #[error("module {module:?} needs module {missing:?}, which is not enabled")]
    MissingDependency { module: &'static str, missing: &'static str },
    #[error("these modules depend on each other in a circle: {0}")]
    Circle(String),
    #[error("module {module:?} did not start: {reason}")]
    Startup { module: &'static str, reason: String },
}

impl ModuleError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::MissingDependency { missing, .. } => {
                Some(format!("set `enabled = true` in [modules.{missing}], or leave both out"))
            }
            Self::Circle(_) | Self::Startup { .. } => None,
        }
    }
}

/// Sorts the modules so that each follows those it depends on, otherwise in the given order.
pub fn in_order(mut waiting: Vec<Box<dyn Module>>) -> Result<Vec<Box<dyn Module>>, ModuleError> {
    let known: Vec<&str> = waiting.iter().map(|module| module.name()).collect();
    for module in &waiting {
        if let Some(missing) = module.dependencies().iter().find(|name| !known.contains(name)) {
            return Err(ModuleError::MissingDependency { module: module.name(), missing });
        }
    }
    let mut ordered: Vec<Box<dyn Module>> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let started = |name: &&str| ordered.iter().any(|module| module.name() == *name);
        let Some(next) = waiting.iter().position(|module| module.dependencies().iter().all(&started)) else {
            let names: Vec<&str> = waiting.iter().map(|module| module.name()).collect();
            return Err(ModuleError::Circle(names.join(", ")));
        };
        ordered.push(waiting.remove(next));
    }
    Ok(ordered)
}
