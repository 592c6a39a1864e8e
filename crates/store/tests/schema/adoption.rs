//! A database of the last program before schema and functions became files (mem_160) is adopted without loss.
//!
//! The fixture is what that program made of `butler demo`, in the schema `demo`: fewer memories, and rows in each table that
//! the demo leaves empty. `pg_dump --no-owner --inserts`, with the owner's policies for CURRENT_USER and without psql's own
//! commands, so that any server of the tests can execute it.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use butler_store::{Database, DatabaseOptions};
use butler_testkit::TestDb;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::describe;

const SCHEMA: &str = "demo";

const DUMP: &[u8] = include_bytes!("fixtures/mem_160.sql.zip");

async fn restored() -> TestDb {
    // the roles, which belong to the cluster and not to a dump
    drop(TestDb::new().await);
    let mut dump = String::new();
    let mut archive = zip::ZipArchive::new(Cursor::new(DUMP)).unwrap();
    archive.by_index(0).unwrap().read_to_string(&mut dump).unwrap();
    let db = TestDb::empty().await;
    db.execute(&dump).await;
    db
}

fn options(db: &TestDb) -> DatabaseOptions {
    DatabaseOptions { schema: SCHEMA.to_owned(), ..db.options() }
}

/// A connection that sees the butler's schema as its own.
async fn connect(db: &TestDb) -> PgConnection {
    let mut conn = db.connect().await;
    sqlx::query("SELECT set_config('search_path', $1 || ', public', false)")
        .bind(SCHEMA)
        .execute(&mut conn)
        .await
        .unwrap();
    conn
}

/// The rows of each table as JSON, in the order of their text.
async fn rows(conn: &mut PgConnection) -> BTreeMap<String, Vec<Value>> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 1",
    )
    .fetch_all(&mut *conn)
    .await
    .unwrap();
    let mut found = BTreeMap::new();
    for table in tables {
        let statement = AssertSqlSafe(format!("SELECT to_jsonb(t) FROM {table} t"));
        let mut rows: Vec<Value> = sqlx::query_scalar(statement).fetch_all(&mut *conn).await.unwrap();
        rows.sort_by_key(Value::to_string);
        found.insert(table, rows);
    }
    found
}

/// What the migrations change: ids of embedding versions become uuids (mem_200), and tokens get columns (mem_201).
fn as_migrated(table: &str, mut row: Value) -> Value {
    if table == "tokens" {
        for column in ["parent_id", "rotated_at", "previous_hash", "previous_until"] {
            row[column] = Value::Null;
        }
    }
    let column = if table == "embedding_versions" { "id" } else { "embedding_version_id" };
    if let Some(number) = row.get(column).and_then(Value::as_i64) {
        row[column] = uuid::Uuid::from_u128(u128::try_from(number).unwrap()).to_string().into();
    }
    row
}

const KEY_COLUMNS: &[&str] = &["holder", "predicate_key", "slot", "object_entity_id", "entity_id"];
const TIME_COLUMNS: &[&str] =
    &["valid_from", "valid_to", "observed_at", "dates", "holds_from", "holds_to", "placed_at", "ended_at", "corrected"];

/// Takes out what mem_205 and mem_208 add to facts: the columns of time, the columns of the key, and the entity that a subject names, with an event each.
/// Returns the number of links.
fn take_links(before: &mut BTreeMap<String, Vec<Value>>, after: &mut BTreeMap<String, Vec<Value>>) -> usize {
    let events = after.get_mut("memory_events").unwrap();
    let all = events.len();
    events.retain(|event| event["actor"] != "mem_205" || event["event_type"] != "fact_repointed");
    let linked = all - events.len();
    let unlinked = |rows: &[Value]| rows.iter().filter(|row| row["entity_id"].is_null()).count();
    let (old, new) = (before.get_mut("facts").unwrap(), after.get_mut("facts").unwrap());
    assert_eq!(unlinked(old), unlinked(new) + linked, "each link has its event");
    for row in old.iter_mut().chain(new.iter_mut()) {
        for column in KEY_COLUMNS.iter().chain(TIME_COLUMNS) {
            row.as_object_mut().unwrap().remove(*column);
        }
    }
    new.sort_by_key(Value::to_string);
    linked
}

#[tokio::test]
async fn a_database_at_mem_160_keeps_every_row_and_becomes_like_a_new_one() {
    let db = restored().await;
    let mut before = rows(&mut connect(&db).await).await;
    let record = before.remove("butler_migrations").unwrap();
    assert_eq!(record.len(), 34, "the fixture is at mem_160");
    let empty: Vec<&String> = before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
    assert!(empty.is_empty(), "the fixture has rows in every table, but not in {empty:?}");

    let database = Database::connect(options(&db)).await.unwrap();
    let migrated = database.migrate().await.unwrap();
    assert_eq!(migrated.from.as_deref(), Some("mem_160_a_large_tenant_among_small_ones"));
    assert_eq!(migrated.applied.first().map(String::as_str), Some("mem_200_schema_as_files"));
    assert!(migrated.functions && migrated.to == butler_store::latest_migration(), "{migrated:?}");

    let mut after = rows(&mut connect(&db).await).await;
    for table in ["butler_migrations", "butler_functions", "butler_clock"] {
        after.remove(table);
    }
    assert!(!after.remove("words").unwrap().is_empty(), "the words of the memories are noted");
    let trained = after.remove("vector_indexes").unwrap();
    assert_eq!(trained, [serde_json::json!({"relation": "facts", "lists": 20, "row_count": 7})]);
    let oauth = ["oauth_clients", "oauth_grants", "oauth_logins", "oauth_refresh_tokens"];
    let memory = [
        "predicates",
        "merges",
        "conflicts",
        "conflicts_due",
        "proposals",
        "tombstones",
        "tombstone_keys",
        "injections",
    ];
    for table in memory.into_iter().chain(oauth) {
        assert_eq!(after.remove(table).unwrap(), [Value::Null; 0]);
    }
    let beliefs = after.remove("fact_beliefs").unwrap();
    assert!(!beliefs.is_empty(), "what was believed until it was superseded");
    for fact in after["facts"].iter().filter(|row| row["validity"] == "superseded") {
        assert_ne!(fact["holds_to"], "infinity", "{fact}");
    }
    let ended = |row: &Value| row["validity"] == "retracted" || row["validity"] == "expired";
    assert!(after["facts"].iter().all(|fact| ended(fact) != fact["ended_at"].is_null()));
    for episode in after.get_mut("episodes").unwrap() {
        assert_eq!(episode["occurred_at"], episode["created_at"]);
        episode.as_object_mut().unwrap().remove("occurred_at");
    }
    for table in ["episodes", "facts", "rules"] {
        for row in after.get_mut(table).unwrap() {
            let source = row.as_object_mut().unwrap().remove("source").unwrap();
            assert!(source == "session" || source == "agent", "{source}");
            row.as_object_mut().unwrap().remove("held_for");
        }
        after.get_mut(table).unwrap().sort_by_key(Value::to_string);
    }
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert_eq!(take_links(&mut before, &mut after), 2, "facts of the demo whose subject names an entity");
    for (table, old) in before {
        let mut expected: Vec<Value> = old.into_iter().map(|row| as_migrated(&table, row)).collect();
        expected.sort_by_key(Value::to_string);
        assert!(expected == after[&table], "{table} has other rows than before");
    }

    let new = TestDb::empty().await;
    Database::connect(options(&new)).await.unwrap().migrate().await.unwrap();
    let fresh = describe::everything(&mut connect(&new).await).await;
    let adopted = describe::everything(&mut connect(&db).await).await;
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    assert_eq!(only(&fresh, &adopted), [""; 0], "the adopted database lacks what a new one has");
    assert_eq!(only(&adopted, &fresh), [""; 0], "the adopted database has what a new one lacks");

    let again = database.migrate().await.unwrap();
    assert!(again.applied.is_empty() && !again.functions, "{again:?}");
}

#[tokio::test]
async fn two_servers_that_adopt_at_once_both_come_up() {
    let db = restored().await;
    let start = async || Database::connect(options(&db)).await?.migrate().await;
    let (one, two) = tokio::join!(start(), start());
    let migrated = [one.unwrap(), two.unwrap()].iter().filter(|done| !done.applied.is_empty()).count();
    assert_eq!(migrated, 1, "exactly one of them migrates");
}

#[tokio::test]
async fn rows_with_times_that_the_program_cannot_read_are_repaired() {
    let db = restored().await;
    let mut conn = connect(&db).await;
    let poison = "ALTER TABLE memory_events DISABLE TRIGGER memory_events_append_only;
        UPDATE memory_events SET created_at = 'infinity';
        ALTER TABLE memory_events ENABLE TRIGGER memory_events_append_only;
        UPDATE entities SET created_at = '-infinity', updated_at = '20000-01-01';
        UPDATE episodes SET created_at = '280000-01-01', expires_at = 'infinity', last_referenced_at = 'infinity';
        UPDATE episodes SET expires_at = '-infinity' WHERE id = (SELECT min(id::text)::uuid FROM episodes);
        UPDATE facts SET created_at = 'infinity', last_confirmed_at = '0044-03-15 BC' WHERE validity <> 'active';
        UPDATE rules SET last_confirmed_at = 'infinity', last_applied_at = 'infinity';
        UPDATE memory_links SET created_at = 'infinity';
        UPDATE rule_applications SET applied_at = 'infinity', effectiveness_score = 'NaN';
        UPDATE tokens SET expires_at = '-infinity', last_used_at = 'infinity';
        UPDATE schedules SET next_run_at = 'infinity';
        UPDATE job_runs SET started_at = '-infinity'";
    sqlx::raw_sql(poison).execute(&mut conn).await.unwrap();
    let counts = async |conn: &mut PgConnection| -> BTreeMap<String, usize> {
        rows(conn).await.into_iter().map(|(table, rows)| (table, rows.len())).collect()
    };
    let before = counts(&mut conn).await;
    Database::connect(options(&db)).await.unwrap().migrate().await.unwrap();
    let after = counts(&mut conn).await;
    for (table, count) in before.iter().filter(|(table, _)| table.as_str() != "butler_migrations") {
        assert!(after.get(table) >= Some(count), "no row of {table} is lost");
    }
    // The constraints are valid, so every time is readable. What had expired stays expired, what was unlearned lives on.
    let kept = "SELECT (SELECT count(*) FROM episodes WHERE expires_at < now())
                     + (SELECT count(*) FROM rules WHERE last_confirmed_at IS NULL)
                     + (SELECT count(*) FROM tokens WHERE expires_at > now() OR expires_at IS NULL)";
    assert_eq!(sqlx::query_scalar::<_, i64>(kept).fetch_one(&mut conn).await.unwrap(), 0);
}

/// A new column with a time needs a check, too.
#[tokio::test]
async fn every_time_is_checked() {
    let unchecked: Vec<String> = sqlx::query_scalar(
        "SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
           AND a.atttypid = 'timestamptz'::regtype AND c.relname NOT IN ('butler_migrations', 'butler_functions')
           AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.convalidated
                             AND a.attnum = ANY (k.conkey)
                             AND pg_get_constraintdef(k.oid) ~ '(time_is|times_are|bounds_are)_plausible')
         ORDER BY 1",
    )
    .fetch_all(&mut TestDb::new().await.connect().await)
    .await
    .unwrap();
    assert_eq!(unchecked, [""; 0]);
}
