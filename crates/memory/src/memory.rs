use std::sync::Arc;

use butler_domain::secrets::Redactor;
use butler_domain::{Butler, Clock};
use butler_embed::Embedder;
use butler_store::{Database, Embedded, Model};
use tokio::sync::Notify;

use crate::backups::Backups;
use crate::conflicts::waiting::NewFacts;
use crate::index_training::TrainingSignal;
use crate::runtime::Runtime;
use crate::trusted_time::ClockWatch;
use crate::{MemoryConfig, MemoryError};

/// The dependencies of a [`Memory`].
pub struct MemoryParts {
    pub butler: Butler,
    pub db: Database,
    pub embedder: Arc<dyn Embedder>,
    pub clock: Arc<dyn Clock>,
    pub config: MemoryConfig,
}

/// The memory of one butler with all its tenants, in the butler's own database. Each use case is a method in its own
/// file.
pub struct Memory {
    parts: MemoryParts,
    redactor: Redactor,
    /// The LLM. Without one, consolidation only counts the waiting episodes.
    runtime: Option<Arc<dyn Runtime>>,
    /// The backups of this memory. Without them, an erasure names none.
    backups: Option<Arc<dyn Backups>>,
    /// Notified when a mark flags a rule for inversion.
    inversion: Notify,
    /// Notified when a vector index should be retrained.
    training: TrainingSignal,
    /// Cached statistics of the stores, from which a search chooses its path.
    pools: butler_store::search::Pools,
    /// Facts that were not compared with the others yet.
    new_facts: Arc<NewFacts>,
    /// Whether the clock can be trusted with jobs that delete.
    clock_watch: ClockWatch,
}

impl Memory {
    /// A memory without an LLM and without backups, whose clock is checked before anything is deleted.
    pub fn new(parts: MemoryParts) -> Self {
        let (training, pools) = (TrainingSignal::default(), butler_store::search::Pools::default());
        // The configuration is validated when it is loaded.
        let redactor = parts.config.secrets.redactor().unwrap_or_else(|_| Redactor::standard());
        Self {
            parts,
            redactor,
            runtime: None,
            backups: None,
            inversion: Notify::new(),
            training,
            pools,
            new_facts: Arc::default(),
            clock_watch: ClockWatch::default(),
        }
    }

    /// Trusts the clock whatever it shows and records no mark of its time. For simulations that run through the past.
    #[must_use]
    pub fn with_simulated_time(mut self) -> Self {
        self.clock_watch = ClockWatch::simulated();
        self
    }

    /// Adds the LLM that consolidation uses.
    #[must_use]
    pub fn with_runtime(mut self, runtime: Arc<dyn Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Adds the backups that an erasure names.
    #[must_use]
    pub fn with_backups(mut self, backups: Arc<dyn Backups>) -> Self {
        self.backups = Some(backups);
        self
    }

    pub(crate) fn backups(&self) -> Option<&Arc<dyn Backups>> {
        self.backups.as_ref()
    }

    /// The LLM, if one is configured. Without it, consolidation only counts.
    pub fn runtime(&self) -> Option<&Arc<dyn Runtime>> {
        self.runtime.as_ref()
    }

    /// The butler whose memory this is, and the actor of events without a caller.
    pub fn butler(&self) -> &Butler {
        &self.parts.butler
    }

    /// The butler's database.
    pub fn db(&self) -> &Database {
        &self.parts.db
    }

    /// Computes the vectors of stored texts and of queries.
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.parts.embedder
    }

    /// The validated settings of `[modules.memory]`.
    pub fn config(&self) -> &MemoryConfig {
        &self.parts.config
    }

    /// Replaces secrets in incoming text.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.parts.clock.as_ref()
    }

    pub(crate) fn clock_watch(&self) -> &ClockWatch {
        &self.clock_watch
    }

    pub(crate) fn inversion(&self) -> &Notify {
        &self.inversion
    }

    pub(crate) fn training(&self) -> &TrainingSignal {
        &self.training
    }

    pub(crate) fn new_facts(&self) -> &Arc<NewFacts> {
        &self.new_facts
    }

    pub(crate) fn pools(&self) -> &butler_store::search::Pools {
        &self.pools
    }

    /// Embeds a text and returns the vector together with the model that produced it.
    pub(crate) async fn embed(&self, text: &str) -> Result<Embedded, MemoryError> {
        let vector = self.parts.embedder.embed(Some(text)).await?;
        Ok(Embedded { vector, model: self.model() })
    }

    pub(crate) fn model(&self) -> Model {
        let id = self.parts.embedder.model();
        Model { name: id.model.into(), version: id.version.into(), dimensions: id.dimensions as i32 }
    }
}
