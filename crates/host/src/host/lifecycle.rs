//! Starts and stops the host: the private PostgreSQL, the butlers and the embedding engine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use butler_embed::Embedder;
use butler_fetch::Progress;
use butler_memory::tool::ToolError;

use super::{Host, Status, leftovers, tokens};
use crate::backup;
use crate::butler::Butler;
use crate::error::{HostError, unavailable};
use crate::scheduler::HostJob;

/// How long a call waits for the server to start. A warm start takes a second; clients usually wait longer than this.
const START_TIMEOUT: Duration = Duration::from_secs(20);

impl Host {
    /// Starts the private PostgreSQL if it is needed, all butlers and the embedding engine. Returns when calls can be
    /// served.
    pub async fn start(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.finish_start(self.start_everything(progress).await)
    }

    /// Starts the databases without the model, for commands that embed nothing.
    pub async fn start_databases(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        self.finish_start(self.start_butlers(progress).await)
    }

    /// Publishes the outcome of the start to the callers that wait for it.
    pub(super) fn finish_start(&self, started: Result<(), HostError>) -> Result<(), HostError> {
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

    async fn start_everything(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
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

    /// Downloads the model if necessary. The engine would do so itself, but without showing progress.
    pub async fn fetch_model(&self, progress: Arc<dyn Progress>) -> Result<PathBuf, HostError> {
        let (given, cache) = (self.model_dir.clone(), self.options.cache_dir.clone());
        let located =
            tokio::task::spawn_blocking(move || butler_embed::locate_model(given.as_deref(), &cache, &*progress)).await;
        Ok(located.unwrap_or(Err(butler_embed::EmbedError::Stopped))?)
    }

    pub async fn start_private(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        if self.butlers().iter().all(|butler| self.external_url(butler).is_some()) {
            return Ok(());
        }
        self.ensure_private(progress).await
    }

    /// Starts the private PostgreSQL unless it is already running.
    pub(super) async fn ensure_private(&self, progress: Arc<dyn Progress>) -> Result<(), HostError> {
        let mut private = self.private.write().await;
        if private.is_some() {
            return Ok(());
        }
        let server = butler_postgres::Server::start(self.options.postgres(), progress).await?;
        tracing::info!(runtime = %server.runtime(), pid = server.pid(), "started the private PostgreSQL");
        *private = Some(server);
        Ok(())
    }

    pub(super) async fn start_butler(&self, butler: &Butler) -> Result<(), HostError> {
        let kept_alive = self.external_url(butler).is_none();
        if kept_alive && let Err(error) = leftovers::sweep(self, butler).await {
            tracing::warn!(butler = %butler.name, %error, "cannot remove what an interrupted restore left behind");
        }
        let url = self.url(butler).await?;
        let start = || {
            let embedder: Arc<dyn Embedder> = Arc::clone(&self.engine) as _;
            let backups = Arc::new(backup::BackupCalendar::new(&butler.config, self.backup_folder(butler)));
            let clock = Arc::clone(&self.clock);
            butler.start(url.clone(), kept_alive, self.connections.clone(), embedder, clock, backups)
        };
        match start().await {
            // A restore was killed between its renames.
            Err(error) if error.is_missing_database() && leftovers::sweep(self, butler).await.unwrap_or(false) => {
                start().await?;
            }
            started => started?,
        }
        // An external server must not delay or prevent the start, and the role may lack the right. `doctor` names what
        // is left.
        if !kept_alive && let Err(error) = leftovers::sweep(self, butler).await {
            tracing::info!(butler = %butler.name, %error, "cannot look for what an interrupted restore left behind");
        }
        if butler.config.file.butler.backup.schedule.is_some() {
            let job = backup::BackupJob::new(&butler.config, self.backup_source(butler).await?);
            butler.set_host_jobs(job.into_iter().map(|job| Arc::new(job) as Arc<dyn HostJob>).collect());
        }
        // The first request must already know whether it needs a token.
        tokens::load(self, butler).await.map_err(|source| HostError::Store { butler: butler.name.to_string(), source })
    }

    /// Waits until the start has succeeded or failed.
    pub async fn settled(&self) {
        let mut status = self.status.subscribe();
        let _ = status.wait_for(|status| !matches!(status, Status::Starting(_))).await;
    }

    /// Waits for the start, up to [`START_TIMEOUT`]. The error says what is still starting or why the start failed.
    pub async fn await_start(&self) -> Result<(), ToolError> {
        if matches!(*self.status.borrow(), Status::Ready) {
            return Ok(());
        }
        let _ = tokio::time::timeout(START_TIMEOUT, self.settled()).await;
        match self.status() {
            Status::Ready => Ok(()),
            Status::Starting(phase) => {
                let hint =
                    "the first start downloads PostgreSQL and the model, which can take a minute; try again soon";
                Err(unavailable(format!("the server is still starting ({phase})"), hint))
            }
            Status::Failed(error) => {
                let hint = error.hint().unwrap_or_else(|| "run `butler doctor`".to_owned());
                Err(unavailable(format!("the server could not start: {error}"), hint))
            }
            Status::Stopping => Err(unavailable("the server is shutting down", "start it again with `butler serve`")),
        }
    }

    /// Starts exporting traces of tool calls. Long-running processes call this before they serve.
    pub fn start_traces(&self) {
        self.traces.start();
    }

    /// Starts the schedules of all butlers, in a long-running process.
    pub async fn start_workers(&self) {
        for butler in self.butlers() {
            butler.start_workers().await;
        }
    }

    /// Stops the modules, then closes their connections, then stops the private PostgreSQL.
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
