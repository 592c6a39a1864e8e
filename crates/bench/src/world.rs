//! A memory in this process, on a given database or on that of a server started for the benchmark.

use std::path::Path;
use std::sync::Arc;

use butler_domain::{Butler, SystemClock, TenantId};
use butler_embed::{Engine, EngineOptions};
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use tempfile::TempDir;

use crate::server::{Server, database_url};

pub struct World {
    pub memory: Memory,
    pub engine: Arc<Engine>,
    pub url: String,
    /// The server, if the benchmark started one.
    pub server: Option<Server>,
    _data: Option<TempDir>,
}

impl World {
    pub async fn start(url: Option<&str>) -> anyhow::Result<Self> {
        match url {
            Some(url) => Self::open(url.to_owned(), None, None).await,
            None => {
                let data = tempfile::tempdir()?;
                let server = Server::start(data.path())?;
                Self::open(database_url(data.path())?, Some(server), Some(data)).await
            }
        }
    }

    /// Starts a server on a data directory that is kept when it stops.
    pub async fn on(data: &Path) -> anyhow::Result<Self> {
        let server = Server::start(data)?;
        Self::open(database_url(data)?, Some(server), None).await
    }

    async fn open(url: String, server: Option<Server>, data: Option<TempDir>) -> anyhow::Result<Self> {
        let db = Database::connect(DatabaseOptions::new(url.clone())).await?;
        db.migrate().await?;
        let engine = Engine::new(EngineOptions {
            model_dir: std::env::var_os("BUTLER_MODEL_DIR").map(Into::into),
            ..EngineOptions::default()
        });
        engine.warm_up().await?;
        Ok(Self { memory: memory_on(db, engine.clone())?, engine, url, server, _data: data })
    }

    /// The same memory through a single session, which then sends every statement of a call.
    pub async fn through_one_session(&self) -> anyhow::Result<Memory> {
        let options = DatabaseOptions { pool_size: 1, ..DatabaseOptions::new(self.url.clone()) };
        memory_on(Database::connect(options).await?, self.engine.clone())
    }

    /// Runs the cheapest statement a reader can run: the lower bound for every call.
    pub async fn ping(&self, tenant: &TenantId) -> anyhow::Result<()> {
        let mut conn = self.memory.db().reader(tenant).await?;
        conn.run(|pg| sqlx::query("SELECT 1").execute(pg)).await?;
        Ok(())
    }

    pub fn stop(self) -> anyhow::Result<()> {
        match self.server {
            Some(server) => server.stop(),
            None => Ok(()),
        }
    }
}

fn memory_on(db: Database, embedder: Arc<Engine>) -> anyhow::Result<Memory> {
    Ok(Memory::new(MemoryParts {
        butler: Butler::new("bench")?,
        db,
        embedder,
        clock: Arc::new(SystemClock),
        config: MemoryConfig::default(),
    }))
}
