//! The house: all butlers of this process, the private PostgreSQL they live on, and the engine they share.

mod backups;
pub mod demo;
mod homes;
mod one;
mod restore;
mod several;
pub mod tokens;
mod tool_call;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use butler_domain::{Clock, SystemClock};
use butler_embed::{Embedder, Engine, EngineOptions};
use butler_fetch::Progress;
use butler_memory::tool::ToolError;
use butler_store::Connections;
use tokio::sync::{Mutex, Notify, RwLock, watch};
use tokio_util::sync::CancellationToken;

use crate::access::Keyring;
use crate::backup;
use crate::butler::{Butler, unavailable};
use crate::config::{self, ButlerConfig, ServerSection, Source};
use crate::error::HostError;
use crate::metrics::Metrics;
use crate::scheduler::HostJob;
use crate::telemetry::Traces;

pub use restore::{Replaced, restore, verify};

/// Where everything is; the outcome of flags, environment and defaults.
#[derive(Debug, Clone)]
pub struct HostOptions {
    pub data_dir: PathBuf,
    pub cache_dir: PathBuf,
    pub source: Source,
    pub database_url: Option<String>,
    pub runtime_dir: Option<PathBuf>,
    pub model_dir: Option<PathBuf>,
}

impl HostOptions {
    pub fn postgres(&self) -> butler_postgres::Options {
        butler_postgres::Options {
            data_dir: self.data_dir.clone(),
            runtime_dir: self.runtime_dir.clone(),
            cache_dir: self.cache_dir.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Status {
    Starting(&'static str),
    Ready,
    Failed(Arc<HostError>),
    Stopping,
}

pub struct Host {
    options: HostOptions,
    model_dir: Option<PathBuf>,
    /// In the order of the roster; `/mcp` is the first one's. One can come and go while the process runs: `butler demo`'s.
    butlers: std::sync::RwLock<Vec<Arc<Butler>>>,
    /// The text of the demo's configuration that is served now.
    demo: Mutex<Option<String>>,
    /// The tokens of all butlers.
    keyring: Keyring,
    server: ServerSection,
    /// What all butlers open to one PostgreSQL is counted together.
    connections: Connections,
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    /// `None` when every butler has a database of its own elsewhere.
    private: RwLock<Option<butler_postgres::Server>>,
    status: watch::Sender<Status>,
    /// Woken by a call that found the database gone, so that nobody waits for the next look.
    trouble: Notify,
    /// Cancelled when the process begins to stop: whoever streams ends.
    closing: CancellationToken,
    metrics: Metrics,
    traces: Traces,
}

/// A call that arrives while the server starts waits this long: a warm start takes a second, a client's patience is longer.
const START_PATIENCE: Duration = Duration::from_secs(20);

impl Host {
    /// Reads the configuration and prepares the butlers; touches neither database nor model.
    pub fn new(options: HostOptions) -> Result<Arc<Self>, HostError> {
        let mut configs = config::load_all(&options.source)?;
        let server = config::server(&configs)?;
        let telemetry = config::telemetry(&configs)?;
        let demo = demo::beside(&options.data_dir, &configs);
        let demo_text = demo.as_ref().map(|found| found.text.clone());
        configs.extend(demo.map(|found| found.config));
        refuse_shared_databases(&configs, options.database_url.as_deref())?;
        let named = configs.iter().find_map(|config| config.file.modules.memory.embedding.model_dir.clone());
        let model_dir = options.model_dir.clone().or(named);
        let engine = Engine::shared(EngineOptions {
            model_dir: model_dir.clone(),
            cache_dir: options.cache_dir.clone(),
            ..EngineOptions::default()
        });
        let butlers = configs.into_iter().map(|config| Butler::new(config).map(Arc::new));
        let butlers = butlers.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Self {
            options,
            model_dir,
            metrics: Metrics::default(),
            traces: Traces::new(telemetry.otlp_endpoint),
            butlers: std::sync::RwLock::new(butlers),
            demo: Mutex::new(demo_text),
            keyring: Keyring::default(),
            connections: Connections::limited(server.connections),
            server,
            engine,
            clock: Arc::new(SystemClock),
            private: RwLock::new(None),
            status: watch::Sender::new(Status::Starting("not started")),
            trouble: Notify::new(),
            closing: CancellationToken::new(),
        }))
    }

    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// Those there are now.
    pub fn butlers(&self) -> Vec<Arc<Butler>> {
        self.butlers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// By name; without one, the first.
    pub fn butler(&self, name: Option<&str>) -> Result<Arc<Butler>, HostError> {
        let mut butlers = self.butlers();
        let at = match name {
            Some(name) => butlers.iter().position(|butler| butler.name.as_str() == name),
            None => (!butlers.is_empty()).then_some(0),
        };
        match at {
            Some(at) => Ok(butlers.swap_remove(at)),
            None => {
                let mut known: Vec<&str> = butlers.iter().map(|butler| butler.name.as_str()).collect();
                known.sort_unstable();
                Err(HostError::UnknownButler { name: name.unwrap_or_default().to_owned(), known: known.join(", ") })
            }
        }
    }

    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// What the configuration says about the process.
    pub fn server(&self) -> &ServerSection {
        &self.server
    }

    /// Those this process has open, server by server.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Whether nothing was ever stored here, as far as can be told without starting anything.
    pub fn is_new(&self) -> bool {
        let elsewhere = self.butlers().iter().any(|butler| self.own_url(butler).is_some());
        !elsewhere && !self.options.data_dir.join("postgres").exists()
    }

    /// The model the user named; `None`: the fetched one.
    pub fn model_dir(&self) -> Option<&Path> {
        self.model_dir.as_deref()
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    pub fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    pub fn status(&self) -> Status {
        self.status.borrow().clone()
    }

    /// Starts the private PostgreSQL where it is needed, every butler, and the engine; returns when calls can be served.
    pub async fn start(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.settled_with(self.bring_up(progress).await)
    }

    /// The databases alone, without the model: for commands that embed nothing.
    pub async fn start_databases(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.settled_with(self.start_butlers(progress).await)
    }

    /// Whoever waits for the start learns how it went.
    fn settled_with(&self, started: Result<(), HostError>) -> Result<(), HostError> {
        match started {
            Ok(()) => {
                self.status.send_replace(Status::Ready);
                Ok(())
            }
            Err(error) => {
                let error = Arc::new(error);
                self.status.send_replace(Status::Failed(Arc::clone(&error)));
                Err(HostError::Start(error))
            }
        }
    }

    async fn bring_up(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.status.send_replace(Status::Starting("starting PostgreSQL and loading the embedding model"));
        let warm = async {
            self.fetch_model(Arc::clone(&progress)).await?;
            Ok(self.engine.warm_up().await?)
        };
        tokio::try_join!(warm, self.start_butlers(Arc::clone(&progress)))?;
        Ok(())
    }

    async fn start_butlers(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.start_private(progress).await?;
        self.status.send_replace(Status::Starting("preparing the databases"));
        self.start_each().await
    }

    /// The engine would fetch it, too, but without a word; a first start should show what takes so long.
    pub async fn fetch_model(&self, progress: Arc<dyn Progress>) -> Result<PathBuf, HostError> {
        let (given, cache) = (self.model_dir.clone(), self.options.cache_dir.clone());
        let located =
            tokio::task::spawn_blocking(move || butler_embed::locate_model(given.as_deref(), &cache, &*progress)).await;
        Ok(located.unwrap_or(Err(butler_embed::EmbedError::Stopped))?)
    }

    pub async fn start_private(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        if self.butlers().iter().all(|butler| self.own_url(butler).is_some()) {
            return Ok(());
        }
        self.ensure_private(progress).await
    }

    /// Nothing to do when it was started before.
    async fn ensure_private(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        let mut private = self.private.write().await;
        if private.is_some() {
            return Ok(());
        }
        let server = butler_postgres::Server::start(self.options.postgres(), progress).await?;
        tracing::info!(runtime = %server.runtime(), pid = server.pid(), "the private PostgreSQL is up");
        *private = Some(server);
        Ok(())
    }

    async fn start_butler(&self, butler: &Butler) -> Result<(), HostError> {
        let (url, kept_alive) = (self.url(butler).await?, self.own_url(butler).is_none());
        let embedder: Arc<dyn Embedder> = Arc::clone(&self.engine) as _;
        butler.start(url, kept_alive, self.connections.clone(), embedder, Arc::clone(&self.clock)).await?;
        if butler.config.file.butler.backup.schedule.is_some() {
            let job = backup::Scheduled::new(&butler.config, self.backup_source(butler).await?);
            butler.set_beside(job.into_iter().map(|job| Arc::new(job) as Arc<dyn HostJob>).collect());
        }
        // Before anybody is let in: the first request must find out whether it needs a token.
        tokens::load(self, butler).await.map_err(|source| HostError::Store { butler: butler.name.to_string(), source })
    }

    /// Where a butler's database is; in the private server it is created first if it is not there.
    pub async fn url(&self, butler: &Butler) -> Result<String, HostError> {
        if let Some(url) = self.own_url(butler) {
            return Ok(url.to_owned());
        }
        let name = butler.name.as_str();
        let private = self.private.read().await;
        let server =
            private.as_ref().ok_or_else(|| HostError::Failed("the private PostgreSQL is not running".to_owned()))?;
        butler_store::ensure_database(&server.url("postgres"), name)
            .await
            .map_err(|source| HostError::Store { butler: name.to_owned(), source })?;
        Ok(server.url(name))
    }

    /// The database of a butler that does not live in the private server.
    pub fn own_url<'a>(&'a self, butler: &'a Butler) -> Option<&'a str> {
        own_url(&butler.config, self.options.database_url.as_deref())
    }

    /// Returns when the start has succeeded or failed.
    pub async fn settled(&self) {
        let mut status = self.status.subscribe();
        let _ = status.wait_for(|status| !matches!(status, Status::Starting(_))).await;
    }

    /// Waits for the start, a while; an error says what it waits for, or why there will be none.
    pub async fn await_start(&self) -> Result<(), ToolError> {
        if matches!(*self.status.borrow(), Status::Ready) {
            return Ok(());
        }
        let _ = tokio::time::timeout(START_PATIENCE, self.settled()).await;
        match self.status() {
            Status::Ready => Ok(()),
            Status::Starting(phase) => {
                let hint = "the first start fetches PostgreSQL and the model, which can take a minute; try again soon";
                Err(unavailable(format!("the server is still starting ({phase})"), hint))
            }
            Status::Failed(error) => {
                let hint = error.hint().unwrap_or_else(|| "run `butler doctor`".to_owned());
                Err(unavailable(format!("the server could not start: {error}"), hint))
            }
            Status::Stopping => Err(unavailable("the server is shutting down", "start it again with `butler serve`")),
        }
    }

    /// Reads from the databases what `/metrics` shows of them, unless that is recent.
    pub async fn refresh_metrics(&self) {
        self.metrics.refresh(self.butlers(), self.clock.now()).await;
    }

    /// `/metrics` in the OpenMetrics text format.
    pub fn metrics_text(&self) -> String {
        self.metrics.text(&self.engine.stats(), &self.butlers(), &self.connections.servers())
    }

    /// A call found a database gone: the private server is looked at now, not at the next turn.
    pub fn report_trouble(&self) {
        self.trouble.notify_one();
    }

    /// Returns when trouble was reported.
    pub(crate) async fn trouble_reported(&self) {
        self.trouble.notified().await;
    }

    /// Starts the private PostgreSQL again if it died; nothing to do otherwise.
    pub(crate) async fn revive(&self) -> Result<(), HostError> {
        match self.private.read().await.as_ref() {
            Some(server) => Ok(server.ensure_running().await?),
            None => Ok(()),
        }
    }

    /// For a process that stays, before its first call: calls are traced from here on.
    pub fn start_traces(&self) {
        self.traces.start();
    }

    /// For a process that stays: its butlers' schedules begin.
    pub async fn start_workers(&self) {
        for butler in self.butlers() {
            butler.start_workers().await;
        }
    }

    /// Modules first, then their connections, then the server below them.
    pub async fn stop(&self) -> Result<(), HostError> {
        self.status.send_replace(Status::Stopping);
        self.traces.stop().await;
        let butlers = self.butlers();
        futures::future::join_all(butlers.iter().map(|butler| butler.stop())).await;
        match self.private.write().await.take() {
            Some(server) => Ok(server.stop().await?),
            None => Ok(()),
        }
    }
}

/// A database that is not in the private server: the flag's or the file's.
fn own_url<'a>(config: &'a ButlerConfig, flag: Option<&'a str>) -> Option<&'a str> {
    flag.or(config.file.butler.database.url.as_deref())
}

fn refuse_shared_databases(configs: &[ButlerConfig], flag: Option<&str>) -> Result<(), HostError> {
    let mut homes: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for config in configs {
        let Some(url) = own_url(config, flag) else { continue };
        let home = (url, config.file.butler.database.schema.as_str());
        if let Some(first) = homes.insert(home, &config.name) {
            return Err(HostError::SharedDatabase { first: first.to_owned(), second: config.name.clone() });
        }
    }
    Ok(())
}
