//! The PostgreSQL server that all tests share.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions};
use tokio::sync::OnceCell;

use crate::db;

/// The server for the tests of this process: the one of `BUTLER_TEST_DATABASE_URL`, whose role must be a superuser, or
/// a private one in `BUTLER_TEST_DIR`, by default in the target directory. `cargo xtask test` keeps the private server
/// running; a single `cargo test` starts it if necessary and leaves it running for the next.
pub struct TestServer {
    admin: PgConnectOptions,
    /// Kept until the process ends.
    private: Option<butler_postgres::Server>,
}

static SERVER: OnceCell<TestServer> = OnceCell::const_new();

impl TestServer {
    pub async fn shared() -> &'static TestServer {
        SERVER.get_or_init(|| async { Self::start().await.expect("a PostgreSQL for the tests") }).await
    }

    async fn start() -> anyhow::Result<Self> {
        let server = match std::env::var("BUTLER_TEST_DATABASE_URL") {
            Ok(url) => Self { admin: PgConnectOptions::from_str(&url)?, private: None },
            Err(_) => {
                let options = butler_postgres::Options {
                    data_dir: directory()?,
                    runtime_dir: None,
                    cache_dir: butler_fetch::default_cache_dir(),
                };
                let private = butler_postgres::Server::start(options, Arc::new(butler_fetch::Silent)).await?;
                Self { admin: PgConnectOptions::from_str(&private.url("postgres"))?, private: Some(private) }
            }
        };
        db::remove_leftovers(&server).await?;
        Ok(server)
    }

    /// The private server, for tests that inspect it; `None` with `BUTLER_TEST_DATABASE_URL`.
    pub fn private(&self) -> Option<&butler_postgres::Server> {
        self.private.as_ref()
    }

    /// Connection options for one of its databases, as the superuser.
    pub fn options(&self, database: &str) -> PgConnectOptions {
        self.admin.clone().database(database)
    }

    pub fn url(&self, database: &str) -> String {
        // Uses the original URL, because `to_url_lossy` omits the socket directory.
        match (&self.private, std::env::var("BUTLER_TEST_DATABASE_URL")) {
            (Some(private), _) => private.url(database),
            (None, Ok(url)) => with_database(&url, database),
            (None, Err(_)) => self.options(database).to_url_lossy().to_string(),
        }
    }

    /// Opens a connection to the maintenance database.
    pub async fn admin(&self) -> anyhow::Result<PgConnection> {
        Ok(self.admin.connect().await?)
    }

    /// Runs a statement without parameters, such as DDL with a generated name.
    pub async fn execute(&self, statement: String) -> anyhow::Result<()> {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut self.admin().await?).await?;
        Ok(())
    }
}

/// Replaces the database name in `postgres://user@host/name?options`.
fn with_database(url: &str, database: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let host = authority.split_once('/').map_or(authority, |(host, _)| host);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("postgres://{host}/{database}{query}")
}

/// `BUTLER_TEST_DIR`, or `test-postgres` in the target directory that the test was built into.
fn directory() -> anyhow::Result<PathBuf> {
    if let Some(dir) = std::env::var_os("BUTLER_TEST_DIR") {
        return Ok(PathBuf::from(dir));
    }
    let test = std::env::current_exe()?;
    let target = test.ancestors().find(|dir| dir.join("CACHEDIR.TAG").exists());
    let target = target.ok_or_else(|| anyhow::anyhow!("{} is not in a target directory", test.display()))?;
    Ok(target.join("test-postgres"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_database_name_in_a_url_is_replaced() {
        let with = |url| super::with_database(url, "new");
        assert_eq!(with("postgres://me:pw@db:5433/old?host=/tmp/x"), "postgres://me:pw@db:5433/new?host=/tmp/x");
        assert_eq!(with("postgres://me@%2Ftmp"), "postgres://me@%2Ftmp/new");
    }
}
