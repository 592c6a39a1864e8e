//! A fresh database per test, cloned from a migrated template.

use std::time::Duration;

use butler_domain::{Clock, SystemClock};
use butler_store::{Database, DatabaseOptions};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions};
use uuid::Uuid;

use crate::server::TestServer;

/// Database names contain the second of their creation, so that the leftovers of killed tests are recognised by age.
const PREFIX: &str = "butler_test_";
const LEFTOVER_SECONDS: i64 = 3600;
/// The advisory lock under which the template is created; any number that no other program uses.
const TEMPLATE_LOCK: i64 = 0x6275_746c_6572;
/// Enough for the concurrency of one test. Many tests share the server's connections.
const POOL_SIZE: usize = 8;

/// A database for one test. It is dropped with the value.
pub struct TestDb {
    server: &'static TestServer,
    name: String,
    database: Option<Database>,
}

impl TestDb {
    /// Creates a migrated database.
    pub async fn new() -> Self {
        Self::try_new().await.expect("a database for the test")
    }

    /// Creates a database without a schema. The test must connect itself.
    pub async fn empty() -> Self {
        let server = TestServer::shared().await;
        let name = unique_name();
        server.execute(format!("CREATE DATABASE {name}")).await.expect("an empty database for the test");
        Self { server, name, database: None }
    }

    async fn try_new() -> anyhow::Result<Self> {
        let server = TestServer::shared().await;
        let template = template(server).await?;
        let name = unique_name();
        server.execute(format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
        let mut db = Self { server, name, database: None };
        db.database = Some(Database::connect(db.options()).await?);
        Ok(db)
    }

    /// The store, connected to this database.
    pub fn database(&self) -> &Database {
        self.database.as_ref().expect("TestDb::new connects; with TestDb::empty connect yourself")
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The connection URL, as the owner, who sees all tenants.
    pub fn url(&self) -> String {
        self.server.url(&self.name)
    }

    pub fn options(&self) -> DatabaseOptions {
        DatabaseOptions { pool_size: POOL_SIZE, ..DatabaseOptions::new(self.url()) }
    }

    /// Opens a separate connection as the owner, outside of the store's pools.
    pub async fn connect(&self) -> PgConnection {
        self.server.options(&self.name).connect().await.expect("a connection to the test's database")
    }

    /// Runs statements without parameters as the owner.
    pub async fn execute(&self, statements: &str) {
        sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut self.connect().await).await.expect(statements);
    }
}

impl Drop for TestDb {
    /// Drops the database in the background. If the process ends first, a later test run removes it.
    fn drop(&mut self) {
        let (server, name) = (self.server, self.name.clone());
        std::thread::spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                let _ = runtime.block_on(drop_database(server, &name));
            }
        });
    }
}

fn unique_name() -> String {
    format!("{PREFIX}{}_{}", SystemClock.now().timestamp(), Uuid::new_v4().simple())
}

async fn drop_database(server: &TestServer, name: &str) -> anyhow::Result<()> {
    server.execute(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
}

pub(crate) async fn remove_leftovers(server: &TestServer) -> anyhow::Result<()> {
    let names: Vec<String> = sqlx::query_scalar("SELECT datname::text FROM pg_database WHERE datname LIKE $1")
        .bind(format!("{PREFIX}%"))
        .fetch_all(&mut server.admin().await?)
        .await?;
    let oldest = SystemClock.now().timestamp() - LEFTOVER_SECONDS;
    for name in names {
        let created = name[PREFIX.len()..].split('_').next().and_then(|seconds| seconds.parse::<i64>().ok());
        if created.is_some_and(|created| created < oldest) {
            // Another process may drop it at the same time.
            let _ = drop_database(server, &name).await;
        }
    }
    Ok(())
}

/// Returns the migrated template database, and creates it if the schema has changed.
async fn template(server: &TestServer) -> anyhow::Result<String> {
    let name = format!("butler_template_{}", &butler_store::fingerprint()[..16]);
    if exists(&mut server.admin().await?, &name).await? {
        return Ok(name);
    }
    let mut lock = server.admin().await?;
    sqlx::query("SELECT pg_advisory_lock($1)").bind(TEMPLATE_LOCK).execute(&mut lock).await?;
    if !exists(&mut lock, &name).await? {
        // The template gets its final name when it is complete, so that a killed test leaves no incomplete one.
        let draft = format!("{name}_draft");
        drop_database(server, &draft).await?;
        server.execute(format!("CREATE DATABASE {draft}")).await?;
        let database = Database::connect(DatabaseOptions::new(server.url(&draft))).await?;
        database.migrate().await?;
        database.close().await;
        drop(database);
        rename(server, &draft, &name).await?;
    }
    Ok(name)
}

/// Renames a database. It retries, because a connection that was just closed may still count as a user for a moment.
async fn rename(server: &TestServer, from: &str, to: &str) -> anyhow::Result<()> {
    let mut attempts = 0;
    loop {
        match server.execute(format!("ALTER DATABASE {from} RENAME TO {to}")).await {
            Err(_) if attempts < 50 => {
                attempts += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            result => return result,
        }
    }
}

async fn exists(conn: &mut PgConnection, name: &str) -> anyhow::Result<bool> {
    Ok(sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(name)
        .fetch_one(conn)
        .await?)
}
