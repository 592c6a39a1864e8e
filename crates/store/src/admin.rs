//! Administration of servers, databases and schemas, for the host.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

use crate::connection::session::Session;
use crate::connection::target::{Target, place};
use crate::database::Database;
use crate::error::StoreError;
use crate::extensions;

const DUPLICATE_DATABASE: &str = "42P04";
/// The second of two concurrent creations fails with this error.
const UNIQUE_VIOLATION: &str = "23505";
/// A connection may count for a moment after it ended.
const RENAME_ATTEMPTS: u32 = 50;
const RENAME_PAUSE: Duration = Duration::from_millis(50);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates a database on the server of `url` unless it exists. Returns whether it did.
pub async fn ensure_database(url: &str, name: &str) -> Result<bool, StoreError> {
    let mut conn = connect(url).await?;
    let mut created = false;
    if !exists(&mut conn, name).await? {
        match execute_named(&mut conn, "CREATE DATABASE %I", &[name]).await {
            Ok(()) => created = true,
            Err(error) if was_created_meanwhile(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let _ = conn.close().await;
    Ok(created)
}

/// Drops a database and ends the connections to it. A missing database is no error.
pub async fn drop_database(url: &str, name: &str) -> Result<(), StoreError> {
    let mut conn = connect(url).await?;
    execute_named(&mut conn, "DROP DATABASE IF EXISTS %I WITH (FORCE)", &[name]).await?;
    let _ = conn.close().await;
    Ok(())
}

/// Drops a butler's schema with everything in it. A missing schema is no error.
pub async fn drop_schema(url: &str, name: &str) -> Result<(), StoreError> {
    let mut conn = connect(url).await?;
    execute_named(&mut conn, "DROP SCHEMA IF EXISTS %I CASCADE", &[name]).await?;
    let _ = conn.close().await;
    Ok(())
}

/// Drops a schema and gives its name back to the schema that was kept, in one transaction.
pub async fn replace_schema(url: &str, name: &str, kept: &str) -> Result<(), StoreError> {
    let mut conn = connect(url).await?;
    let mut step = conn.begin().await?;
    execute_named(&mut step, "DROP SCHEMA IF EXISTS %I CASCADE", &[name]).await?;
    execute_named(&mut step, "ALTER SCHEMA %I RENAME TO %I", &[kept, name]).await?;
    step.commit().await?;
    let _ = conn.close().await;
    Ok(())
}

/// Ends the connections to a database and renames it. Returns `false` if there is no such database.
pub async fn rename_database(url: &str, from: &str, to: &str) -> Result<bool, StoreError> {
    let mut conn = connect(url).await?;
    if !exists(&mut conn, from).await? {
        return Ok(false);
    }
    // A client may reconnect in between. The error of the last attempt names it.
    for attempt in 1..=RENAME_ATTEMPTS {
        sqlx::query!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
            from
        )
        .fetch_all(&mut conn)
        .await?;
        match execute_named(&mut conn, "ALTER DATABASE %I RENAME TO %I", &[from, to]).await {
            Ok(()) => break,
            Err(_) if attempt < RENAME_ATTEMPTS => tokio::time::sleep(RENAME_PAUSE).await,
            Err(error) => return Err(error.into()),
        }
    }
    let _ = conn.close().await;
    Ok(true)
}

/// Prevents concurrent restores, verifications and clean-ups of the same data. PostgreSQL releases it when the process
/// dies.
pub struct RestoreLock {
    conn: PgConnection,
}

impl RestoreLock {
    /// Takes the lock; `None` if another process holds it. `url` must lead to a database that no restore renames.
    pub async fn try_take(url: &str, of: &str) -> Result<Option<Self>, StoreError> {
        let mut conn = connect(url).await?;
        let taken = sqlx::query_scalar!(
            r#"SELECT pg_try_advisory_lock(hashtextextended('butler_restore.' || $1::text, 0)) AS "taken!""#,
            of
        );
        let taken = taken.fetch_one(&mut conn).await?;
        Ok(taken.then_some(Self { conn }))
    }

    /// Releases the lock by closing its connection.
    pub async fn release(self) {
        let _ = self.conn.close().await;
    }
}

/// The databases of a server whose names match a regular expression, sorted.
pub async fn databases_like(url: &str, pattern: &str) -> Result<Vec<String>, StoreError> {
    let mut conn = connect(url).await?;
    let names = sqlx::query_scalar!(
        r#"SELECT datname::text AS "name!" FROM pg_database WHERE datname ~ $1 ORDER BY datname"#,
        pattern
    );
    let names = names.fetch_all(&mut conn).await?;
    let _ = conn.close().await;
    Ok(names)
}

/// The schemas of a database whose names match a regular expression, sorted.
pub async fn schemas_like(url: &str, pattern: &str) -> Result<Vec<String>, StoreError> {
    let mut conn = connect(url).await?;
    let names = sqlx::query_scalar!(
        r#"SELECT nspname::text AS "name!" FROM pg_namespace WHERE nspname ~ $1 ORDER BY nspname"#,
        pattern
    );
    let names = names.fetch_all(&mut conn).await?;
    let _ = conn.close().await;
    Ok(names)
}

/// Whether a server has a database of this name.
pub async fn database_exists(url: &str, name: &str) -> Result<bool, StoreError> {
    let mut conn = connect(url).await?;
    let found = exists(&mut conn, name).await?;
    let _ = conn.close().await;
    Ok(found)
}

/// The server's major version: 18 for 18.6.
pub async fn server_major(url: &str) -> Result<u32, StoreError> {
    let conn = connect(url).await?;
    let major = conn.server_version_num().unwrap_or(0) / 10_000;
    let _ = conn.close().await;
    Ok(major)
}

/// Creates the extensions that a butler's schema needs.
pub async fn ensure_extensions(url: &str) -> Result<(), StoreError> {
    let mut session = Session::new(connect(url).await?, Arc::default());
    extensions::create(&mut session).await?;
    session.close().await;
    Ok(())
}

async fn connect(url: &str) -> Result<PgConnection, StoreError> {
    let target = Target::primary(url)?;
    let mut failed = StoreError::InvalidUrl { reason: "it names no server".to_owned() };
    for server in target.order().map(|at| target.server(at)) {
        let unreachable = |reason: String| StoreError::Unreachable { place: place(server), reason };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, server.connect())
            .await
            .map_err(|_| unreachable("no answer in time".to_owned()))
            .and_then(|connected| {
                connected.map_err(|error| match error.as_database_error() {
                    Some(_) => StoreError::from(error),
                    None => unreachable(error.to_string()),
                })
            });
        match connected {
            Ok(mut conn) => {
                if target.count() == 1 || !is_standby(&mut conn).await? {
                    return Ok(conn);
                }
                failed = StoreError::ReadOnly { reason: format!("PostgreSQL at {} is a standby", place(server)) };
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

async fn is_standby(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"SELECT pg_is_in_recovery() AS "standby!""#).fetch_one(conn).await
}

async fn exists(conn: &mut PgConnection, database: &str) -> Result<bool, StoreError> {
    let found =
        sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1) AS "exists!""#, database);
    Ok(found.fetch_one(conn).await?)
}

/// Runs DDL on a named object. DDL takes no parameters, so the server quotes the name.
async fn execute_named(conn: &mut PgConnection, statement: &'static str, names: &[&str]) -> Result<(), sqlx::Error> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let statement =
        sqlx::query_scalar!(r#"SELECT format($1::text, VARIADIC $2::text[]) AS "statement!""#, statement, &names)
            .fetch_one(&mut *conn)
            .await?;
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(conn).await?;
    Ok(())
}

fn was_created_meanwhile(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some(DUPLICATE_DATABASE | UNIQUE_VIOLATION))
}

impl Database {
    /// Indexes that PostgreSQL does not use because building them was interrupted.
    pub async fn invalid_indexes(&self) -> Result<Vec<String>, StoreError> {
        let mut conn = self.owner().await?;
        let schema = self.schema().to_owned();
        conn.run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT c.relname::text AS "name!" FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                   JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT i.indisvalid ORDER BY 1"#,
                schema
            )
            .fetch_all(pg)
        })
        .await
    }
}
