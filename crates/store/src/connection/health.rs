//! What `/readyz` and `butler doctor` ask the database.

use crate::connection::session::Session;
use crate::error::StoreError;
use crate::{extensions, migrate};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub server_version: String,
    pub vector_version: Option<String>,
    pub migrations_applied: Vec<String>,
    /// Known to this binary and not applied yet: not ready.
    pub migrations_pending: Vec<String>,
    /// Extensions that are not installed; without `pg_trgm` there is no fuzzy match of names.
    pub extensions_missing: Vec<String>,
}

impl Health {
    pub fn is_ready(&self) -> bool {
        self.vector_version.is_some() && self.migrations_pending.is_empty()
    }
}

const UNDEFINED_TABLE: &str = "42P01";

pub(crate) async fn read(session: &mut Session, schema: &str) -> Result<Health, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
                          ARRAY(SELECT extname::text FROM pg_extension) AS "extensions!",
                          -- the name alone would find another butler's in public, where extensions live
                          to_regclass(quote_ident($1) || '.butler_migrations') IS NOT NULL AS "has_record!",
                          ARRAY(SELECT version FROM butler_migrations ORDER BY version) AS "applied!""#,
                schema
            )
            .fetch_one(pg)
        })
        .await
        .map_err(|error| match error.code().as_deref() {
            Some(UNDEFINED_TABLE) => not_migrated(schema),
            _ => error,
        })?;
    if !row.has_record {
        return Err(not_migrated(schema));
    }
    let missing = extensions::NAMES.iter().filter(|name| !row.extensions.iter().any(|found| found == **name));
    Ok(Health {
        server_version: server_version(session.server_version()),
        vector_version: row.vector,
        migrations_pending: migrate::versions()
            .filter(|v| !row.applied.iter().any(|a| a == v))
            .map(str::to_owned)
            .collect(),
        migrations_applied: row.applied,
        extensions_missing: missing.map(|name| (*name).to_owned()).collect(),
    })
}

fn not_migrated(schema: &str) -> StoreError {
    StoreError::NotMigrated { reason: format!("there is no table butler_migrations in the schema {schema:?}") }
}

/// 180006 is 18.6; before 10 there were three numbers, and 90624 is 9.6.24.
pub(crate) fn server_version(number: u32) -> String {
    if number < 100_000 {
        return format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100);
    }
    format!("{}.{}", number / 10_000, number % 10_000)
}

/// How many connections of ordinary roles the server takes, all programs together.
pub(crate) async fn connections(session: &mut Session) -> Result<usize, StoreError> {
    let most = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                          - coalesce(current_setting('reserved_connections', true)::int, 0) AS "most!""#
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(usize::try_from(most).unwrap_or(1))
}

/// A pooler in transaction mode runs the statements of two sessions on one connection of the server. Then schema, role
/// and tenant would be those of whoever came last, so it is looked for before anything else is done.
pub(crate) async fn check_sessions(one: &mut Session, other: &mut Session) -> Result<(), StoreError> {
    remember(one, "one").await?;
    remember(other, "other").await?;
    let kept = one
        .run(|pg| sqlx::query_scalar!(r#"SELECT current_setting('butler.session', true) AS kept"#).fetch_one(pg))
        .await?;
    if kept.as_deref() == Some("one") { Ok(()) } else { Err(StoreError::Pooled) }
}

async fn remember(session: &mut Session, name: &str) -> Result<(), StoreError> {
    session.run(|pg| sqlx::query!("SELECT set_config('butler.session', $1, false)", name).fetch_one(pg)).await?;
    Ok(())
}
