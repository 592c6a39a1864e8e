//! The host: all butlers of this process, the private PostgreSQL that stores their data, and the embedding engine that
//! they share.

mod agents;
mod all_butlers;
mod backups;
mod cli_flags;
mod database_urls;
pub mod demo;
pub mod leftovers;
mod lifecycle;
mod restore;
mod single_butler;
pub mod token_changes;
pub mod tokens;
mod tool_call;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use butler_domain::secrets::Redactor;
use butler_domain::{Clock, SystemClock};
use butler_embed::{Embedder, Engine, EngineOptions};
use butler_store::Connections;
use tokio::sync::{Mutex, Notify, RwLock, watch};
use tokio_util::sync::CancellationToken;

use crate::access::{Keyring, TokenMarker, TokenState};
use crate::butler::Butler;
use crate::config::{self, ButlerConfig, ServerSection, Source};
use crate::env;
use crate::error::HostError;
use crate::metrics::{ClientMetrics, Metrics};
use crate::shifted_clock::ShiftedClock;
use crate::telemetry::Traces;

pub use restore::{PreviousData, restore, verify};

/// Directories and configuration sources, resolved from flags, environment and defaults.
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
    /// In the order of the roster; `/mcp` leads to the first. `butler demo` adds and removes one while the process
    /// runs.
    butlers: std::sync::RwLock<Vec<Arc<Butler>>>,
    /// The configuration text of the demo butler that is running, if any.
    demo: Mutex<Option<String>>,
    /// The tokens of all butlers.
    keyring: Keyring,
    token_marker: TokenMarker,
    token_lookup: tokens::TokenLookup,
    server: ServerSection,
    /// Redacts text that comes in before its butler is known.
    redactor: Redactor,
    /// Limits the connections of all butlers to the same PostgreSQL server.
    connections: Connections,
    engine: Arc<Engine>,
    clock: Arc<dyn Clock>,
    /// `None` if every butler uses an external database.
    private: RwLock<Option<butler_postgres::Server>>,
    status: watch::Sender<Status>,
    /// Notified by a call that found the database unavailable, so that the supervisor checks it at once.
    trouble: Notify,
    /// Cancelled when the process begins to stop, so that event streams end.
    closing: CancellationToken,
    metrics: Metrics,
    traces: Traces,
}

impl Host {
    /// Reads the configuration and prepares the butlers, without opening a database or the model.
    pub fn new(options: HostOptions) -> Result<Arc<Self>, HostError> {
        let mut configs = config::load_all(&options.source)?;
        let server = config::server(&configs)?;
        let telemetry = config::telemetry(&configs)?;
        let redactor = config::redactor(&configs);
        let demo = demo::load(&options.data_dir, &configs);
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
        let token_marker = TokenMarker::new(&options.data_dir);
        Ok(Arc::new(Self {
            options,
            model_dir,
            metrics: Metrics::default(),
            traces: Traces::new(telemetry.otlp_endpoint),
            butlers: std::sync::RwLock::new(butlers),
            demo: Mutex::new(demo_text),
            keyring: Keyring::default(),
            token_marker,
            token_lookup: tokens::TokenLookup::default(),
            connections: Connections::limited(server.connections),
            server,
            redactor,
            engine,
            clock: clock(),
            private: RwLock::new(None),
            status: watch::Sender::new(Status::Starting("not started")),
            trouble: Notify::new(),
            closing: CancellationToken::new(),
        }))
    }

    pub fn options(&self) -> &HostOptions {
        &self.options
    }

    /// The current butlers.
    pub fn butlers(&self) -> Vec<Arc<Butler>> {
        self.butlers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The butler with this name; without a name, the first butler.
    pub fn butler(&self, name: Option<&str>) -> Result<Arc<Butler>, HostError> {
        let mut butlers = self.butlers();
        let index = match name {
            Some(name) => butlers.iter().position(|butler| butler.name.as_str() == name),
            None => (!butlers.is_empty()).then_some(0),
        };
        match index {
            Some(index) => Ok(butlers.swap_remove(index)),
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

    /// Whether tokens exist. `None` is certain: every butler's tokens were read, and no other process created one since.
    pub fn token_state(&self) -> TokenState {
        if self.token_marker.exists() {
            return TokenState::Exist;
        }
        self.keyring.state(self.butlers().iter().map(|butler| butler.name.as_str()))
    }

    /// Records in the data directory that tokens exist. Called before the first token is created.
    pub fn remember_tokens(&self) -> Result<(), HostError> {
        self.token_marker.create().map_err(HostError::io("write", self.token_marker.path()))
    }

    /// Looks for a token that the keyring does not know in the databases.
    pub async fn look_up_token(&self, hash: &butler_store::tokens::TokenHash) -> Result<(), tokens::LookupError> {
        self.token_lookup.find(self, hash).await
    }

    /// The `[server]` section of the configuration.
    pub fn server(&self) -> &ServerSection {
        &self.server
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The database connections of this process, by server.
    pub fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Whether nothing was ever stored here, judged without starting a database.
    pub fn is_new(&self) -> bool {
        let external = self.butlers().iter().any(|butler| self.external_url(butler).is_some());
        !external && !self.options.data_dir.join("postgres").exists()
    }

    /// The directory of the model that the user configured; `None` if the downloaded model is used.
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

    pub fn data_dir(&self) -> &Path {
        &self.options.data_dir
    }

    /// The free space on the disk of the private PostgreSQL; `None` if there is no such server or the space is unknown.
    pub fn private_free_bytes(&self) -> Option<u64> {
        let is_running = self.private.try_read().is_ok_and(|server| server.is_some());
        let disk = rustix::fs::statvfs(self.data_dir()).ok().filter(|_| is_running)?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The URL of a butler's database. In the private PostgreSQL the database is created if it does not exist.
    pub async fn url(&self, butler: &Butler) -> Result<String, HostError> {
        if let Some(url) = self.external_url(butler) {
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

    /// The database URL of a butler that does not use the private PostgreSQL.
    pub fn external_url<'a>(&'a self, butler: &'a Butler) -> Option<&'a str> {
        external_url(&butler.config, self.options.database_url.as_deref())
    }

    /// Updates the metrics that are read from the databases, unless they are recent.
    pub async fn refresh_metrics(&self) {
        self.metrics.refresh(self.butlers(), self.clock.now()).await;
    }

    /// The metrics of the clients' connections, which the listeners update.
    pub fn client_metrics(&self) -> ClientMetrics {
        self.metrics.clients()
    }

    /// `/metrics` in the OpenMetrics text format.
    pub fn metrics_text(&self) -> String {
        self.metrics.text(&self.engine.stats(), &self.butlers(), &self.connections.servers())
    }

    /// Reports that a database is unavailable, so that the supervisor checks the private PostgreSQL at once.
    pub fn report_trouble(&self) {
        self.trouble.notify_one();
    }

    /// Waits for [`Self::report_trouble`].
    pub(crate) async fn trouble_reported(&self) {
        self.trouble.notified().await;
    }

    /// Restarts the private PostgreSQL if it has died.
    pub(crate) async fn ensure_postgres_running(&self) -> Result<(), HostError> {
        match self.private.read().await.as_ref() {
            Some(server) => Ok(server.ensure_running().await?),
            None => Ok(()),
        }
    }
}

fn clock() -> Arc<dyn Clock> {
    match env::var(env::CLOCK_OFFSET_FILE) {
        Some(file) => Arc::new(ShiftedClock::new(file)),
        None => Arc::new(SystemClock),
    }
}

/// The database URL from the flag or the file; `None` for a butler in the private PostgreSQL.
fn external_url<'a>(config: &'a ButlerConfig, flag: Option<&'a str>) -> Option<&'a str> {
    flag.or(config.file.butler.database.url.as_deref())
}

fn refuse_shared_databases(configs: &[ButlerConfig], flag: Option<&str>) -> Result<(), HostError> {
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for config in configs {
        let Some(url) = external_url(config, flag) else { continue };
        let location = (url, config.file.butler.database.schema.as_str());
        if let Some(first) = seen.insert(location, &config.name) {
            return Err(HostError::SharedDatabase { first: first.to_owned(), second: config.name.clone() });
        }
    }
    Ok(())
}
