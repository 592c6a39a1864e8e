//! Brings a database to this program's schema: a new one from `schema/`, an existing one by `migrations/`. Both get the
//! functions of `functions/`.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::BoxFuture;
use sha2::{Digest, Sha256};

use crate::connection::session::{Session, Tx};
use crate::error::StoreError;
use crate::functions::FunctionSet;
use crate::hex::hex;
use crate::sql_files::{MIGRATIONS, SCHEMA};
use crate::{citus, extensions, functions};

/// The versions that the specification names. `schema/` contains what they create.
const IN_SCHEMA: [&str; 3] = ["mem_001_baseline", "mem_002_entities", "mem_003_memory_events"];
/// The checksum under which they are recorded.
const SCHEMA_CHECKSUM: &str = "schema";

/// The only state before [`MIGRATIONS`] that can be adopted, and the recorded checksum of its last migration.
const ADOPTABLE: &str = "mem_160_a_large_tenant_among_small_ones";
const ADOPTABLE_CHECKSUM: &str = "94ba5dda6b92e599a09816fc3633ffb747433b57ea4b5b35b20e039183749415";
/// The first version whose migration is a file of this program.
const FIRST: &str = "mem_200";

/// What a call of [`crate::Database::migrate`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The newest migration found; `None` for a new database.
    pub from: Option<String>,
    pub to: String,
    pub applied: Vec<String>,
    /// Whether the SQL functions were applied.
    pub functions: bool,
}

/// All versions a database of this program has.
pub(crate) fn versions() -> impl Iterator<Item = &'static str> {
    IN_SCHEMA.into_iter().chain(MIGRATIONS.iter().map(|(version, _)| *version))
}

/// The newest migration this program knows.
pub fn latest_migration() -> &'static str {
    MIGRATIONS[MIGRATIONS.len() - 1].0
}

/// Identifies the files of the schema and the revision of the functions. A template database made from others is out of
/// date.
pub fn fingerprint() -> String {
    let tables = SCHEMA.iter().chain(&MIGRATIONS).map(|(_, text)| *text).collect::<String>();
    let functions = FunctionSet::current();
    hex(&Sha256::digest(format!("{tables}{}{}", functions.revision, functions.hash())))
}

fn checksum(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Version and checksum of each applied migration.
type Record = BTreeMap<String, String>;

/// Whether this program can bring a database with this record up to date.
fn check(record: &Record) -> Result<(), StoreError> {
    let newest = || record.keys().next_back().cloned().unwrap_or_default();
    let is_ours = |version: &str| versions().any(|known| known == version);
    if let Some(unknown) = record.keys().find(|version| !is_ours(version) && version.as_str() >= FIRST) {
        return Err(StoreError::NewerDatabase { version: unknown.clone(), latest: latest_migration() });
    }
    let changed = |version: &str| StoreError::ChangedMigration { version: version.to_owned() };
    if !record.keys().any(|version| version.as_str() >= FIRST) {
        return match record.get(ADOPTABLE) {
            Some(sum) if sum == ADOPTABLE_CHECKSUM => Ok(()),
            Some(_) => Err(changed(ADOPTABLE)),
            None => Err(StoreError::OldDatabase { version: newest(), oldest: ADOPTABLE }),
        };
    }
    let expected = IN_SCHEMA.iter().map(|version| (*version, SCHEMA_CHECKSUM.to_owned()));
    let expected = expected.chain(MIGRATIONS.iter().map(|(version, text)| (*version, checksum(text))));
    for (version, sum) in expected {
        if record.get(version).is_some_and(|recorded| *recorded != sum) {
            return Err(changed(version));
        }
    }
    Ok(())
}

/// Migrates the database under a session lock, which ends with the session. Processes that start at the same time wait
/// for each other.
pub(crate) async fn run(session: &mut Session, schema: &str, functions: &FunctionSet) -> Result<Migrated, StoreError> {
    session
        .run(|pg| {
            sqlx::query!("SELECT pg_advisory_lock(hashtextextended('butler_migrations.' || $1, 0))", schema).execute(pg)
        })
        .await?;
    let result = migrate(session, schema, functions).await;
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

/// Boxed, so that the crates above do not compile it again.
fn migrate<'a>(
    session: &'a mut Session,
    schema: &'a str,
    functions: &'a FunctionSet,
) -> BoxFuture<'a, Result<Migrated, StoreError>> {
    Box::pin(async move {
        citus::refuse(session, schema).await?;
        extensions::create(session).await?;
        create_schema(session, schema).await?;
        let record = recorded(session, schema).await?;
        let mut applied = Vec::new();
        if record.is_empty() {
            apply(session, Step::Schema).await?;
            applied.extend(versions().map(str::to_owned));
        } else {
            check(&record)?;
            for (version, text) in MIGRATIONS.iter().filter(|(version, _)| !record.contains_key(*version)) {
                apply(session, Step::Migration { version, text }).await?;
                tracing::info!(version, schema, "migrated");
                applied.push((*version).to_owned());
            }
        }
        let functions = functions::apply(session, functions, !applied.is_empty()).await?;
        create_trigrams(session).await?;
        if !record.is_empty() && !applied.is_empty() {
            vacuum(session).await;
        }
        Ok(Migrated { from: record.into_keys().next_back(), to: latest_migration().to_owned(), applied, functions })
    })
}

/// Creates the indexes that need an extension which may be installed later than the schema.
async fn create_trigrams(session: &mut Session) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT create_entity_trigrams() WHERE NOT EXISTS (
                     SELECT FROM pg_indexes WHERE indexname = 'entities_name_trigrams' AND schemaname = current_schema())"
            )
            .execute(pg)
        })
        .await?;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT create_word_trigrams() WHERE NOT EXISTS (
                     SELECT FROM pg_indexes WHERE indexname = 'words_trigrams' AND schemaname = current_schema())"
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Vacuums the tables. A migration that rewrites a table leaves it without statistics and visibility map, and
/// autovacuum does not notice. Until then, lists would read the table instead of an index.
async fn vacuum(session: &mut Session) {
    let statement = "VACUUM (ANALYZE) episodes, facts, rules, entities, memory_events, words";
    if let Err(error) = session.run(|pg| sqlx::raw_sql(statement).execute(pg)).await {
        tracing::warn!(%error, "the tables were not vacuumed after the migration; autovacuum will do it");
    }
}

async fn create_schema(session: &mut Session, schema: &str) -> Result<(), StoreError> {
    let exists = session
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS "exists!""#, schema)
                .fetch_one(pg)
        })
        .await?;
    if exists {
        return Ok(());
    }
    session.run(|pg| sqlx::query!("SELECT set_config('butler.schema', $1, false)", schema).fetch_one(pg)).await?;
    // DDL takes no parameters, so the server quotes the name.
    session
        .run(|pg| {
            sqlx::raw_sql(
                "DO $$ BEGIN EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', current_setting('butler.schema')); END $$",
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The migrations on record; empty for a new database.
async fn recorded(session: &mut Session, schema: &str) -> Result<Record, StoreError> {
    let exists = session
        .run(|pg| {
            sqlx::query_scalar!(
                // The name alone would find the table of another butler in public, where the extensions are.
                r#"SELECT to_regclass(quote_ident($1) || '.butler_migrations') IS NOT NULL AS "exists!""#,
                schema
            )
            .fetch_one(pg)
        })
        .await?;
    if !exists {
        return Ok(Record::new());
    }
    let rows = session.run(|pg| sqlx::query!("SELECT version, checksum FROM butler_migrations").fetch_all(pg)).await?;
    Ok(rows.into_iter().map(|row| (row.version, row.checksum)).collect())
}

async fn create_tables(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    for (_, text) in SCHEMA {
        tx.run(|pg| sqlx::raw_sql(text).execute(pg)).await?;
    }
    for version in IN_SCHEMA {
        record(tx, version, SCHEMA_CHECKSUM).await?;
    }
    for (version, text) in MIGRATIONS {
        record(tx, version, &checksum(text)).await?;
    }
    Ok(())
}

async fn apply_migration(tx: &mut Tx<'_>, version: &str, text: &'static str) -> Result<(), StoreError> {
    tx.run(|pg| sqlx::raw_sql(text).execute(pg)).await?;
    record(tx, version, &checksum(text)).await
}

async fn record(tx: &mut Tx<'_>, version: &str, checksum: &str) -> Result<(), StoreError> {
    tx.run(|pg| {
        sqlx::query!("INSERT INTO butler_migrations (version, checksum) VALUES ($1, $2)", version, checksum).execute(pg)
    })
    .await?;
    Ok(())
}

/// Roles belong to the whole cluster, so migrations of other databases can collide with ours on them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Copy)]
enum Step {
    /// All tables of a new database.
    Schema,
    Migration {
        version: &'static str,
        text: &'static str,
    },
}

impl Step {
    const fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Migration { version, .. } => version,
        }
    }

    async fn run(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self {
            Self::Schema => create_tables(tx).await,
            Self::Migration { version, text } => apply_migration(tx, version, text).await,
        }
    }
}

/// Runs one step in a transaction of its own.
async fn apply(session: &mut Session, step: Step) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        let mut tx = session.begin().await?;
        let result = match step.run(&mut tx).await {
            Ok(()) => tx.commit().await,
            Err(error) => Err(error),
        };
        match result {
            Err(error) if attempt < ATTEMPTS && is_collision(&error) => {
                attempt += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) if !error.is_unavailable() => {
                return Err(StoreError::Migration { version: step.name(), source: Box::new(error) });
            }
            result => return result,
        }
    }
}

fn is_collision(error: &StoreError) -> bool {
    match error {
        // A unique index of the system catalogue.
        StoreError::Violation { constraint: crate::Constraint::Other(name), .. } => name.starts_with("pg_"),
        StoreError::Database(_) | StoreError::NotNow { .. } => {
            error.to_string().contains("concurrently") || matches!(error.code().as_deref(), Some("40P01" | "42710"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rows: &[(&str, &str)]) -> Record {
        rows.iter().map(|(version, sum)| ((*version).to_owned(), (*sum).to_owned())).collect()
    }

    #[test]
    fn a_database_at_mem_160_is_adopted_and_an_older_one_refused() {
        let old = [("mem_001_baseline", "a"), ("mem_151_events_by_type", "b")];
        let refused = check(&record(&old)).unwrap_err();
        assert!(matches!(&refused, StoreError::OldDatabase { version, .. } if version == "mem_151_events_by_type"));
        let mut at_160 = record(&old);
        at_160.insert(ADOPTABLE.to_owned(), ADOPTABLE_CHECKSUM.to_owned());
        assert!(check(&at_160).is_ok());
        at_160.insert(ADOPTABLE.to_owned(), "x".to_owned());
        assert!(matches!(check(&at_160), Err(StoreError::ChangedMigration { .. })));
    }

    #[test]
    fn a_migration_of_a_newer_program_is_refused_whatever_else_was_applied() {
        for version in ["mem_999_future", "mem_200_another"] {
            let newer = record(&[("mem_001_baseline", SCHEMA_CHECKSUM), (version, "x")]);
            assert!(matches!(check(&newer), Err(StoreError::NewerDatabase { .. })), "{version}");
        }
    }
}
