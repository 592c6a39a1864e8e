//! Forward-only migrations inside the binary.

use std::collections::BTreeMap;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::connection::session::Session;
use crate::error::StoreError;
use crate::extensions;

struct Migration {
    version: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal),+ $(,)?) => {
        &[$(Migration { version: $version, sql: include_str!(concat!("../migrations/", $version, ".sql")) }),+]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    "mem_001_baseline",
    "mem_002_entities",
    "mem_003_memory_events",
    "mem_004_provenance",
    "mem_005_host",
    "mem_006_access",
    "mem_010_retrieval",
    "mem_011_retrieve",
    "mem_012_vector_training",
    "mem_020_writes",
    "mem_030_workers",
    "mem_040_entities_names",
    "mem_050_token_changes",
    "mem_070_browse",
    "mem_071_palette",
    "mem_072_browse_by_confidence",
    "mem_080_retrieve_leaner",
    "mem_090_retrieve_narrower",
    "mem_105_links_of_a_tenant",
    "mem_106_words_of_a_small_tenant",
    "mem_110_run_tenant",
    "mem_111_fading_mark",
    "mem_112_index_state",
    "mem_113_names_composed",
    "mem_114_bump_in_order",
    "mem_120_palette_names",
    "mem_125_right_to_metrics",
    "mem_130_probes_of_a_part",
    "mem_131_palette_of_a_small_tenant",
    "mem_140_words_among_others",
    "mem_141_probes_down_to_a_sixteenth",
    "mem_150_words_of_a_large_tenant",
    "mem_151_events_by_type",
    "mem_160_a_large_tenant_among_small_ones",
];

const RECORD: &str = include_str!("../migrations/mem_000_record.sql");

/// What a call of [`crate::Database::migrate`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The newest migration found; `None` for a new database.
    pub from: Option<String>,
    pub to: String,
    pub applied: Vec<String>,
}

pub(crate) fn versions() -> impl Iterator<Item = &'static str> {
    MIGRATIONS.iter().map(|migration| migration.version)
}

/// The newest migration this binary knows.
pub fn latest_migration() -> &'static str {
    MIGRATIONS[MIGRATIONS.len() - 1].version
}

/// Changes when any migration does: names what a prepared template database was made from.
pub fn fingerprint() -> String {
    let all: String = MIGRATIONS.iter().map(checksum).collect();
    hex(&Sha256::digest(all))
}

fn checksum(migration: &Migration) -> String {
    hex(&Sha256::digest(migration.sql))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One after the other, whoever starts at the same time: the lock is the session's, and goes with it if it is lost.
pub(crate) async fn run(session: &mut Session, schema: &str) -> Result<Migrated, StoreError> {
    session
        .run(|pg| {
            sqlx::query!("SELECT pg_advisory_lock(hashtextextended('butler_migrations.' || $1, 0))", schema).execute(pg)
        })
        .await?;
    let result = migrate(session, schema).await;
    let released = session
        .run(|pg| {
            sqlx::query!("SELECT pg_advisory_unlock(hashtextextended('butler_migrations.' || $1, 0))", schema)
                .fetch_one(pg)
        })
        .await;
    if released.is_err() {
        session.discard();
    }
    result
}

async fn migrate(session: &mut Session, schema: &str) -> Result<Migrated, StoreError> {
    extensions::create(session).await?;
    prepare(session, schema).await?;
    let applied = applied(session).await?;
    if let Some(unknown) = applied.keys().find(|version| !versions().any(|known| known == *version)) {
        return Err(StoreError::NewerDatabase { version: unknown.clone(), latest: latest_migration() });
    }
    let mut done = Vec::new();
    for migration in MIGRATIONS {
        match applied.get(migration.version) {
            Some(sum) if *sum == checksum(migration) => {}
            Some(_) => return Err(StoreError::ChangedMigration { version: migration.version.to_owned() }),
            None => {
                apply(session, migration).await.map_err(|source| match source {
                    source if source.is_unavailable() => source,
                    source => StoreError::Migration { version: migration.version, source: Box::new(source) },
                })?;
                tracing::info!(version = migration.version, schema, "migrated");
                done.push(migration.version.to_owned());
            }
        }
    }
    if done.is_empty() {
        complete(session).await?;
    }
    Ok(Migrated { from: applied.into_keys().next_back(), to: latest_migration().to_owned(), applied: done })
}

/// What a migration left out because an extension was missing then: `CREATE EXTENSION` above may have made it since.
async fn complete(session: &mut Session) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT create_entity_trigrams() WHERE NOT EXISTS (
                     SELECT FROM pg_indexes WHERE indexname = 'entities_name_trigrams' AND schemaname = current_schema())"
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The schema and the record of what was applied.
async fn prepare(session: &mut Session, schema: &str) -> Result<(), StoreError> {
    let exists = session
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS "exists!""#, schema)
                .fetch_one(pg)
        })
        .await?;
    if !exists {
        session.run(|pg| sqlx::query!("SELECT set_config('butler.schema', $1, false)", schema).fetch_one(pg)).await?;
        // DDL takes no parameters; the server quotes the name itself
        session
            .run(|pg| {
                sqlx::raw_sql(
                    "DO $$ BEGIN EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', current_setting('butler.schema')); END $$",
                )
                .execute(pg)
            })
            .await?;
    }
    session.run(|pg| sqlx::raw_sql(RECORD).execute(pg)).await?;
    Ok(())
}

async fn applied(session: &mut Session) -> Result<BTreeMap<String, String>, StoreError> {
    let rows = session.run(|pg| sqlx::query!("SELECT version, checksum FROM butler_migrations").fetch_all(pg)).await?;
    Ok(rows.into_iter().map(|row| (row.version, row.checksum)).collect())
}

/// Roles belong to the whole cluster, so migrations of other databases can collide with ours on them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

async fn apply(session: &mut Session, migration: &'static Migration) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        match apply_once(session, migration).await {
            Err(error) if attempt < ATTEMPTS && is_collision(&error) => {
                attempt += 1;
                tokio::time::sleep(PAUSE).await;
            }
            result => return result,
        }
    }
}

async fn apply_once(session: &mut Session, migration: &'static Migration) -> Result<(), StoreError> {
    let mut tx = session.begin().await?;
    tx.run(|pg| sqlx::raw_sql(migration.sql).execute(pg)).await?;
    let sum = checksum(migration);
    tx.run(|pg| {
        sqlx::query!("INSERT INTO butler_migrations (version, checksum) VALUES ($1, $2)", migration.version, sum)
            .execute(pg)
    })
    .await?;
    tx.commit().await
}

fn is_collision(error: &StoreError) -> bool {
    match error {
        // a unique index of the system catalogue
        StoreError::Violation { constraint: crate::Constraint::Other(name), .. } => name.starts_with("pg_"),
        StoreError::Database(_) | StoreError::NotNow { .. } => {
            error.to_string().contains("concurrently") || matches!(error.code().as_deref(), Some("40P01" | "42710"))
        }
        _ => false,
    }
}
