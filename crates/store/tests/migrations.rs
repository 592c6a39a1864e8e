//! Migrations at start: on any database that can work, and with a clear word on any that cannot.

use std::time::Duration;

use butler_store::{Database, DatabaseOptions, StoreError};
use butler_testkit::{TestDb, TestServer};

async fn connect(options: DatabaseOptions) -> StoreError {
    let options = DatabaseOptions { connect_timeout: Duration::from_secs(60), ..options };
    Database::connect(options).await.expect_err("must not connect")
}

#[tokio::test]
async fn two_servers_starting_at_once_both_come_up() {
    let db = TestDb::empty().await;
    let start = async || {
        let database = Database::connect(db.options()).await?;
        database.migrate().await
    };
    let (one, two, three) = tokio::join!(start(), start(), start());
    let applied: Vec<usize> = [one, two, three].into_iter().map(|done| done.unwrap().applied.len()).collect();
    assert_eq!(applied.iter().filter(|count| **count > 0).count(), 1, "exactly one of them migrates: {applied:?}");
    let database = Database::connect(db.options()).await.unwrap();
    let again = database.migrate().await.unwrap();
    assert_eq!(again.from.as_deref(), Some(butler_store::latest_migration()));
    assert_eq!((again.to.as_str(), again.applied.len()), (butler_store::latest_migration(), 0));
    let health = database.health().await.unwrap();
    assert!(health.is_ready() && health.migrations_applied.len() > 3, "{health:?}");
}

/// Somebody's database has recorded its checksum, and a program with another text refuses that database. Put a change into
/// a new migration; only lines of new ones may join this list.
#[tokio::test]
async fn a_migration_that_landed_is_never_edited_not_even_its_comment() {
    let db = TestDb::new().await;
    let mut pg = db.connect().await;
    let sums: Vec<String> =
        sqlx::query_scalar("SELECT version || ' ' || left(checksum, 16) FROM butler_migrations ORDER BY version")
            .fetch_all(&mut pg)
            .await
            .unwrap();
    insta::assert_snapshot!(sums.join("\n"));
}

#[tokio::test]
async fn several_databases_of_one_cluster_migrate_at_once() {
    let databases = [TestDb::empty().await, TestDb::empty().await, TestDb::empty().await];
    let starts = databases.iter().map(|db| async {
        let database = Database::connect(db.options()).await.unwrap();
        database.migrate().await.unwrap().applied.len()
    });
    for applied in futures::future::join_all(starts).await {
        assert!(applied > 0);
    }
}

#[tokio::test]
async fn a_second_butler_lives_in_a_schema_of_its_own() {
    let db = TestDb::new().await;
    let mut options = db.options();
    options.schema = r#"The "other" butler"#.to_owned();
    let other = Database::connect(options).await.unwrap();
    let not_yet = other.health().await;
    assert!(
        matches!(not_yet, Err(StoreError::NotMigrated { .. })),
        "the neighbour's tables are not its own: {not_yet:?}"
    );
    other.migrate().await.unwrap();
    let tenant = butler_domain::TenantId::default();
    let insert = "INSERT INTO episodes (butler, content, embedding) VALUES ('b', 'c', array_fill(0.1, ARRAY[384])::real[]::vector)";
    let mut conn = other.tenant(&tenant).await.unwrap();
    conn.run(|pg| sqlx::query(insert).execute(pg)).await.unwrap();
    let count = async |database: &Database| {
        let mut conn = database.tenant(&tenant).await.unwrap();
        let count: i64 =
            conn.run(|pg| sqlx::query_scalar("SELECT count(*) FROM episodes").fetch_one(pg)).await.unwrap();
        count
    };
    drop(conn);
    assert_eq!((count(&other).await, count(db.database()).await), (1, 0));
}

#[tokio::test]
async fn a_database_newer_than_the_binary_is_refused() {
    let db = TestDb::new().await;
    db.execute("INSERT INTO butler_migrations (version, checksum) VALUES ('mem_999_future', 'x')").await;
    let error = db.database().migrate().await.unwrap_err();
    assert!(matches!(&error, StoreError::NewerDatabase { version, .. } if version == "mem_999_future"), "{error}");
    assert!(error.hint().unwrap().contains("newer butler"));
}

#[tokio::test]
async fn a_migration_that_was_changed_after_it_was_applied_is_refused() {
    let db = TestDb::new().await;
    db.execute("UPDATE butler_migrations SET checksum = 'x' WHERE version = 'mem_003_memory_events'").await;
    let error = db.database().migrate().await.unwrap_err();
    assert!(matches!(error, StoreError::ChangedMigration { .. }), "{error}");
}

#[tokio::test]
async fn a_database_older_than_any_that_can_be_upgraded_is_refused_with_the_next_step() {
    let db = TestDb::new().await;
    db.execute(
        "DELETE FROM butler_migrations WHERE version > 'mem_003';
         INSERT INTO butler_migrations (version, checksum) VALUES ('mem_151_events_by_type', 'x')",
    )
    .await;
    let error = db.database().migrate().await.unwrap_err();
    assert!(
        matches!(&error, StoreError::OldDatabase { version, .. } if version == "mem_151_events_by_type"),
        "{error}"
    );
    assert!(error.to_string().contains("mem_160") && error.hint().unwrap().contains("then start this one"), "{error}");
}

/// Citus itself cannot be installed here, so the catalogue is made to say what it would say.
#[tokio::test]
async fn a_schema_that_citus_distributes_or_would_distribute_is_refused() {
    let distributed = TestDb::empty().await;
    distributed.execute("CREATE TABLE pg_dist_schema (schemaid oid)").await;
    let database = Database::connect(distributed.options()).await.unwrap();
    assert!(database.migrate().await.is_ok(), "another schema's business");
    distributed.execute("INSERT INTO pg_dist_schema VALUES ('public'::regnamespace)").await;
    let error = database.migrate().await.unwrap_err();
    assert!(matches!(&error, StoreError::Distributed { reason } if reason.contains("pg_dist_schema")), "{error}");
    assert!(error.hint().unwrap().contains("docs/scaling.md"));

    let with_tables = TestDb::new().await;
    with_tables
        .execute(
            "CREATE TABLE pg_dist_partition (logicalrelid regclass); INSERT INTO pg_dist_partition VALUES ('facts')",
        )
        .await;
    let error = with_tables.database().migrate().await.unwrap_err();
    assert!(matches!(&error, StoreError::Distributed { reason } if reason.contains("pg_dist_partition")), "{error}");

    let would = TestDb::empty().await;
    would
        .execute(&format!(
            "SET allow_system_table_mods = on;
             INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
             VALUES (99999, 'citus', 10, 'public'::regnamespace, false, '14.0');
             ALTER DATABASE {} SET citus.enable_schema_based_sharding = 'on'",
            would.name()
        ))
        .await;
    let error = Database::connect(would.options()).await.unwrap().migrate().await.unwrap_err();
    assert!(matches!(&error, StoreError::Distributed { reason } if reason.contains("would distribute")), "{error}");
}

#[tokio::test]
async fn a_database_that_was_not_migrated_is_not_ready() {
    let db = TestDb::empty().await;
    let database = Database::connect(db.options()).await.unwrap();
    let error = database.health().await.unwrap_err();
    assert!(matches!(error, StoreError::NotMigrated { .. }), "{error}");
    assert!(database.migrate().await.is_ok());
}

#[tokio::test]
async fn a_wrong_password_or_user_is_told_without_the_password() {
    let url = TestServer::shared().await.url("postgres");
    let (_, rest) = url.split_once('@').unwrap();
    let error = connect(DatabaseOptions::new(format!("postgres://nobody_known:secret@{rest}"))).await;
    assert!(matches!(&error, StoreError::LoginRefused { user, .. } if user == "nobody_known"), "{error}");
    assert!(error.hint().unwrap().contains("pg_hba.conf") && !error.to_string().contains("secret"));
}

#[tokio::test]
async fn an_unreachable_server_is_named() {
    let error = connect(DatabaseOptions::new("postgres://me:secret@127.0.0.1:1/memory")).await;
    assert!(error.is_unavailable() && error.to_string().contains("127.0.0.1:1"), "{error}");
    assert!(!error.to_string().contains("secret") && error.hint().unwrap().contains("--database-url"));
}

#[tokio::test]
async fn a_database_that_does_not_exist_is_named_with_the_command_that_makes_it() {
    let url = TestServer::shared().await.url("no_such_database");
    let error = connect(DatabaseOptions::new(url)).await;
    assert_eq!(error.hint().as_deref(), Some("create it: createdb no_such_database"), "{error}");
}

#[tokio::test]
async fn a_url_that_is_none_is_told_how_to_write_one() {
    let error = connect(DatabaseOptions::new("localhost/memory")).await;
    assert!(matches!(error, StoreError::InvalidUrl { .. }) && error.hint().is_some(), "{error}");
}

#[tokio::test]
async fn what_an_extension_brings_that_came_after_the_migrations_is_there_at_the_next_start() {
    let db = TestDb::empty().await;
    let database = Database::connect(db.options()).await.unwrap();
    database.migrate().await.unwrap();
    let mut conn = database.owner().await.unwrap();
    let others = butler_store::backup::tables_of_others(&mut conn, "public").await.unwrap();
    assert!(others.is_empty(), "a new table belongs to butler_store::backup::TABLES: {others:?}");
    conn.run(|pg| sqlx::raw_sql("DROP EXTENSION pg_trgm CASCADE; CREATE TABLE orders (id int)").execute(pg))
        .await
        .unwrap();
    assert_eq!(butler_store::backup::tables_of_others(&mut conn, "public").await.unwrap(), ["public.orders"]);
    drop(conn);
    database.migrate().await.unwrap();
    let mut conn = database.owner().await.unwrap();
    let found: bool = conn
        .run(|pg| sqlx::query_scalar("SELECT to_regclass('entities_name_trigrams') IS NOT NULL").fetch_one(pg))
        .await
        .unwrap();
    assert!(found, "the index for similar names is back");
}

/// Applies a migration again to a database that has rows from before it.
async fn migrate_again(db: &TestDb, version: &str, before: &str) {
    db.execute(before).await;
    db.execute(&format!("DELETE FROM butler_migrations WHERE version = '{version}'")).await;
    assert_eq!(db.database().migrate().await.expect("migrated again").applied, [version]);
}

#[tokio::test]
async fn memories_in_scripts_without_spaces_get_new_search_vectors() {
    let db = TestDb::new().await;
    migrate_again(
        &db,
        "mem_203_character_pairs",
        "INSERT INTO facts (subject, predicate, content, search_vector)
             SELECT 's', c, c, to_tsvector('english', c) FROM unnest(ARRAY['她在东京塔工作', 'Works at the tower']) AS c;
         INSERT INTO rules (content, search_vector) VALUES ('紅茶を勧める', to_tsvector('english', '紅茶を勧める'));
         INSERT INTO episodes (butler, content, search_vector) VALUES ('b', 'แพ้ถั่วลิสง', to_tsvector('english', 'แพ้ถั่วลิสง'));
         UPDATE facts SET search_vector = '' WHERE content LIKE 'Works%'",
    )
    .await;
    let mut pg = db.connect().await;
    for (query, table) in [("京塔", "facts"), ("紅茶", "rules"), ("ลิส", "episodes")] {
        let statement = format!("SELECT count(*) FROM {table} WHERE search_vector @@ plainto_tsquery('english', $1)");
        let found: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).bind(query).fetch_one(&mut pg).await.unwrap();
        assert_eq!(found, 1, "{query}");
    }
    let untouched = "SELECT count(*) FROM facts WHERE search_vector = ''";
    assert_eq!(sqlx::query_scalar::<_, i64>(untouched).fetch_one(&mut pg).await.unwrap(), 1, "other rows stay");
    let equal = "SELECT bool_and(search_vector = memory_search_vector(script_pairs(content))) FROM rules";
    assert!(sqlx::query_scalar::<_, bool>(equal).fetch_one(&mut pg).await.unwrap(), "as if stored now");
}

#[tokio::test]
async fn the_words_of_existing_memories_are_noted() {
    let db = TestDb::new().await;
    let memories = "INSERT INTO episodes (tenant_id, butler, content) VALUES ('a', 'b', 'Walked along the harbour');
         INSERT INTO facts (tenant_id, subject, predicate, content) VALUES ('a', 'Torvald', 'drinks', 'elderflower');
         INSERT INTO rules (tenant_id, content) VALUES ('b', 'Never interrupt the harbour');
         INSERT INTO entities (tenant_id, canonical_name, entity_type, aliases) VALUES ('b', 'Grønning', 'person', '{Solveig}')";
    db.execute(memories).await;
    let words = async || -> Vec<(String, String, String)> {
        sqlx::query_as("SELECT tenant_id, word, folded FROM words ORDER BY 1, 2")
            .fetch_all(&mut db.connect().await)
            .await
            .unwrap()
    };
    let noted = words().await;
    assert!(noted.contains(&("b".to_owned(), "grønning".to_owned(), "gronning".to_owned())), "{noted:?}");
    migrate_again(
        &db,
        "mem_204_words",
        "DROP FUNCTION words_stored, words_changed CASCADE; DROP TABLE words; DROP FUNCTION note_words",
    )
    .await;
    assert_eq!(words().await, noted, "the migration notes what the triggers had noted");
    db.execute("INSERT INTO rules (tenant_id, content) VALUES ('b', 'Use the ferry')").await;
    assert_eq!(words().await.len(), noted.len() + 1, "and the triggers are back");
}

/// Rows from before the key ignored spelling: `User` and `user` were two subjects, and Anna's facts belonged to nobody.
#[tokio::test]
async fn existing_facts_are_linked_and_those_that_meet_on_one_key_superseded() {
    let db = TestDb::new().await;
    migrate_again(
        &db,
        "mem_205_keys_of_facts",
        "ALTER TABLE facts DROP COLUMN holder, DROP COLUMN predicate_key, DROP COLUMN slot, DROP COLUMN object_entity_id CASCADE;
         DROP TABLE predicates;
         DROP FUNCTION fact_holder, predicate_key, folded_name, entity_link_keys CASCADE;
         DROP INDEX IF EXISTS entities_owner;
         CREATE UNIQUE INDEX facts_one_active_per_entity_key ON facts (tenant_id, entity_id, scope, predicate)
             WHERE entity_id IS NOT NULL AND validity = 'active';
         CREATE UNIQUE INDEX facts_one_active_per_subject_key ON facts (tenant_id, scope, subject, predicate)
             WHERE entity_id IS NULL AND validity = 'active';
         INSERT INTO entities (id, tenant_id, canonical_name, entity_type, aliases) VALUES
             ('00000000-0000-4000-8000-000000000001', 'a', 'Anna Grønning', 'person', '{Annie}'),
             ('00000000-0000-4000-8000-000000000002', 'a', 'Bob Berg', 'person', '{Bob}'),
             ('00000000-0000-4000-8000-000000000003', 'a', 'Bob Dahl', 'person', '{Bob}'),
             ('00000000-0000-4000-8000-000000000004', 'b', 'Cid', 'person', '{}');
         INSERT INTO facts (tenant_id, subject, predicate, content, created_at, last_confirmed_at) VALUES
             ('a', 'User', 'favorite color', 'red', now() - interval '2 days', now()),
             ('a', 'user', 'favorite_color', 'green', now() - interval '1 day', now()),
             ('a', 'ANNIE', 'city', 'Kiel', now(), now() - interval '90 days'),
             ('a', 'anna gronning', 'job', 'pilot', now(), now()),
             ('a', 'Bob', 'city', 'Bonn', now(), now()),
             ('a', 'Cid', 'city', 'Ulm', now(), now());
         INSERT INTO facts (tenant_id, subject, predicate, content, created_at, last_confirmed_at, entity_id) VALUES
             ('a', 'A.', 'city', 'Oslo', now() - interval '9 days', now(), '00000000-0000-4000-8000-000000000001')",
    )
    .await;
    let facts: Vec<String> = sqlx::query_scalar(
        "SELECT concat_ws(' ', content, validity, right(entity_id::text, 1)) FROM facts ORDER BY content COLLATE \"C\"",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap();
    assert_eq!(
        facts,
        [
            "Bonn active",
            "Kiel superseded 1",
            "Oslo active 1",
            "Ulm active",
            "green active",
            "pilot active 1",
            "red superseded"
        ],
        "several entities, or another tenant's, link nothing; the more confident of two that meet by a link stays"
    );
    let events: Vec<String> = sqlx::query_scalar("SELECT event_type FROM memory_events ORDER BY event_type")
        .fetch_all(&mut db.connect().await)
        .await
        .unwrap();
    assert_eq!(events, ["fact_repointed", "fact_repointed", "fact_superseded", "fact_superseded"]);
}
