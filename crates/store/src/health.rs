//! The state of the database, for `/readyz` and `butler doctor`.

use crate::connection::server::server_version;
use crate::connection::session::Session;
use crate::error::StoreError;
use crate::{extensions, migrate};

/// What a look at the catalogue found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    pub server_version: String,
    pub vector_version: Option<String>,
    pub migrations_applied: Vec<String>,
    /// Migrations of this program that the database lacks. It is not ready until they are applied.
    pub migrations_pending: Vec<String>,
    /// Extensions that are not installed. Without `pg_trgm`, names are not matched fuzzily.
    pub extensions_missing: Vec<String>,
}

impl Health {
    /// Whether requests can be served: pgvector exists and no migration is missing.
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
