//! The second wall between tenants: row-level security behind every statement. And the audit stream, which nobody edits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::TenantId;
use butler_testkit::TestDb;
use sqlx::{Connection, PgConnection, Row};

const TABLES: [&str; 11] = [
    "episodes",
    "facts",
    "rules",
    "memory_links",
    "entities",
    "memory_events",
    "rule_applications",
    "embedding_versions",
    "idempotency_keys",
    "injections",
    "words",
];

/// One row of every table for each of two tenants. The triggers note the only long word.
const TWO_TENANTS: &str = "
    INSERT INTO episodes (tenant_id, butler, content) SELECT t, 'general', 'hello' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO facts (tenant_id, subject, predicate, content) SELECT t, 's', 'p', 'c' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO rules (tenant_id, content) SELECT t, 'r' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
        SELECT t, 'fact', gen_random_uuid(), 'rule', gen_random_uuid(), 'supports' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO entities (tenant_id, canonical_name, entity_type) SELECT t, 'n', 'person' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO memory_events (tenant_id, event_type) SELECT t, 'fact_created' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO rule_applications (tenant_id, rule_id, outcome, effectiveness_score, maturity)
        SELECT tenant_id, id, 'helpful', 1, 'candidate' FROM rules;
    INSERT INTO embedding_versions (tenant_id, model, version, dimensions) SELECT t, 'm', '1', 384 FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO idempotency_keys (tenant_id, key, tool, request, response) SELECT t, 'k', 't', '', '{}' FROM unnest(ARRAY['alice', 'bob']) t;
    INSERT INTO injections (tenant_id, id, kind, memory_types, memory_ids, scores)
        SELECT t, gen_random_uuid(), 'recall', '{}', '{}', '{}' FROM unnest(ARRAY['alice', 'bob']) t;";

async fn tenants_seen(conn: &mut PgConnection, table: &str) -> Vec<String> {
    let statement = format!("SELECT tenant_id FROM {table} ORDER BY tenant_id");
    let rows = sqlx::query(sqlx::AssertSqlSafe(statement)).fetch_all(conn).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn as_app(db: &TestDb, tenant: Option<&str>) -> PgConnection {
    let mut conn = db.connect().await;
    sqlx::raw_sql("SET ROLE butler_app").execute(&mut conn).await.unwrap();
    if let Some(tenant) = tenant {
        sqlx::query("SELECT set_config('butler.tenant', $1, false)").bind(tenant).execute(&mut conn).await.unwrap();
    }
    conn
}

#[tokio::test]
async fn a_statement_without_tenant_filter_sees_only_its_tenant_in_every_table() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut alice = as_app(&db, Some("alice")).await;
    let mut nobody = as_app(&db, None).await;
    let mut owner = db.connect().await;
    for table in TABLES {
        assert_eq!(tenants_seen(&mut alice, table).await, ["alice"], "{table}");
        assert!(tenants_seen(&mut nobody, table).await.is_empty(), "{table}: an unset tenant sees nothing");
        assert_eq!(tenants_seen(&mut owner, table).await, ["alice", "bob"], "{table}: the owner sees all");
    }
}

#[tokio::test]
async fn a_row_of_another_tenant_can_neither_be_written_nor_moved() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut alice = as_app(&db, Some("alice")).await;
    for statement in [
        "INSERT INTO episodes (tenant_id, butler, content) VALUES ('bob', 'general', 'x')",
        "UPDATE facts SET tenant_id = 'bob'",
    ] {
        let refused = sqlx::raw_sql(statement).execute(&mut alice).await.unwrap_err();
        assert!(refused.to_string().contains("row-level security"), "{refused}");
    }
    let touched = sqlx::raw_sql("UPDATE facts SET content = 'x' WHERE tenant_id = 'bob'").execute(&mut alice).await;
    assert_eq!(touched.unwrap().rows_affected(), 0);
}

#[tokio::test]
async fn references_of_another_tenants_memories_are_not_counted() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut alice = as_app(&db, Some("alice")).await;
    let mut owner = db.connect().await;
    let ids: String =
        sqlx::query_scalar("SELECT string_agg(quote_literal(id), ',') FROM facts").fetch_one(&mut owner).await.unwrap();
    let count =
        |tenant: &str| format!("SELECT FROM memory_bump('{tenant}', now(), ARRAY[{ids}]::uuid[], '{{}}', '{{}}')");
    let refused = sqlx::raw_sql(sqlx::AssertSqlSafe(count("bob"))).execute(&mut alice).await.unwrap_err();
    assert!(refused.to_string().contains("another tenant"), "{refused}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(count("alice"))).execute(&mut alice).await.unwrap();
    let counted: Vec<(String, i32)> =
        sqlx::query_as("SELECT tenant_id, reference_count FROM facts ORDER BY 1").fetch_all(&mut owner).await.unwrap();
    assert_eq!(counted, [("alice".to_owned(), 1), ("bob".to_owned(), 0)]);
}

#[tokio::test]
async fn what_runs_as_the_owner_is_not_everybodys() {
    let db = TestDb::new().await;
    let open: Vec<String> = sqlx::query_scalar(
        "SELECT p.oid::regprocedure::text FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
         WHERE p.prosecdef AND a.grantee = 0 AND a.privilege_type = 'EXECUTE' ORDER BY 1",
    )
    .fetch_all(&mut db.connect().await)
    .await
    .unwrap();
    assert!(open.is_empty(), "functions that any role may call as their owner: {open:?}");
}

#[tokio::test]
async fn a_fact_about_another_tenants_entity_is_refused_by_the_database() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut conn = db.database().owner().await.unwrap();
    let refused = conn
        .run(|pg| {
            sqlx::query(
                "INSERT INTO facts (tenant_id, subject, predicate, content, entity_id)
                 SELECT 'alice', 's', 'q', 'c', id FROM entities WHERE tenant_id = 'bob'",
            )
            .execute(pg)
        })
        .await
        .unwrap_err();
    assert_eq!(refused.constraint(), Some(&butler_store::Constraint::EntityExists), "{refused}");
}

#[tokio::test]
async fn memory_events_is_append_only_for_everybody_but_retention() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut app = as_app(&db, Some("alice")).await;
    let mut owner = db.connect().await;
    for statement in ["UPDATE memory_events SET actor = 'x'", "DELETE FROM memory_events"] {
        let refused = sqlx::raw_sql(statement).execute(&mut app).await.unwrap_err();
        assert!(refused.to_string().contains("permission denied"), "{refused}");
        let refused = sqlx::raw_sql(statement).execute(&mut owner).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "not even the owner: {refused}");
    }
    let refused = sqlx::raw_sql("TRUNCATE memory_events").execute(&mut owner).await.unwrap_err();
    assert!(refused.to_string().contains("append-only"), "{refused}");
    sqlx::raw_sql("SET ROLE butler_retention").execute(&mut owner).await.unwrap();
    let removed = sqlx::raw_sql("DELETE FROM memory_events").execute(&mut owner).await.unwrap();
    assert_eq!(removed.rows_affected(), 2);
    owner.close().await.unwrap();
}

#[tokio::test]
async fn the_application_role_sees_no_tokens_schedules_or_jobs() {
    let db = TestDb::new().await;
    let mut app = as_app(&db, Some("alice")).await;
    for statement in [
        "SELECT FROM tokens",
        "SELECT FROM oauth_clients",
        "SELECT FROM oauth_grants",
        "SELECT FROM oauth_logins",
        "SELECT FROM oauth_refresh_tokens",
        "SELECT FROM schedules",
        "SELECT FROM job_runs",
        "SELECT FROM butler_migrations",
    ] {
        let refused = sqlx::raw_sql(statement).execute(&mut app).await.unwrap_err();
        assert!(refused.to_string().contains("permission denied"), "{statement}: {refused}");
    }
}

#[tokio::test]
async fn the_stores_sessions_of_a_request_are_the_application_role() {
    let db = TestDb::new().await;
    let tenant = TenantId::new("alice").unwrap();
    for mut conn in [
        db.database().tenant(&tenant).await.unwrap(),
        db.database().relaxed(&tenant).await.unwrap(),
        db.database().reader(&tenant).await.unwrap(),
    ] {
        let row = conn
            .run(|pg| {
                sqlx::query("SELECT current_user::text, current_setting('butler.tenant'), current_setting('synchronous_commit')")
                    .fetch_one(pg)
            })
            .await
            .unwrap();
        assert_eq!((row.get::<&str, _>(0), row.get::<&str, _>(1)), ("butler_app", "alice"));
    }
}

#[tokio::test]
async fn only_an_erasure_changes_a_payload_and_only_of_its_tenant() {
    let db = TestDb::new().await;
    db.execute(TWO_TENANTS).await;
    let mut owner = db.connect().await;
    for statement in ["UPDATE memory_events SET payload = '{}'", "UPDATE memory_events SET payload = '{}', actor = 'x'"]
    {
        let refused = sqlx::raw_sql(statement).execute(&mut owner).await.unwrap_err();
        assert!(refused.to_string().contains("append-only"), "{refused}");
    }
    let mut alice = as_app(&db, Some("alice")).await;
    let erase = |tenant: &str| format!("SELECT FROM redact_events('{tenant}', NULL, '{{}}', '{{}}', '{{}}', false)");
    let refused = sqlx::raw_sql(sqlx::AssertSqlSafe(erase("bob"))).execute(&mut alice).await.unwrap_err();
    assert!(refused.to_string().contains("another tenant"), "{refused}");
    db.execute("INSERT INTO memory_events (tenant_id, event_type, payload) SELECT t, 'x', '{\"content\": \"secret\", \"n\": 1}' FROM unnest(ARRAY['alice', 'bob']) t").await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(erase("alice"))).execute(&mut alice).await.unwrap();
    let payloads: Vec<String> =
        sqlx::query_scalar("SELECT payload::text FROM memory_events WHERE event_type = 'x' ORDER BY tenant_id")
            .fetch_all(&mut owner)
            .await
            .unwrap();
    assert_eq!(payloads, [r#"{"n": 1, "erased": true}"#, r#"{"n": 1, "content": "secret"}"#]);
    let refused = sqlx::raw_sql("UPDATE memory_events SET payload = '{}'").execute(&mut alice).await.unwrap_err();
    assert!(refused.to_string().contains("permission denied"), "{refused}");
}
