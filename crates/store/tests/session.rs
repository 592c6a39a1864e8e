//! Sessions and their pools: who waits for whom, what a dropped future leaves behind, how a lost server comes back.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use butler_domain::TenantId;
use butler_store::{Conn, Database, DatabaseOptions, StoreError};
use butler_testkit::TestDb;
use sqlx::Row;

fn tenant(name: &str) -> TenantId {
    TenantId::new(name).unwrap()
}

async fn pid(conn: &mut Conn) -> i32 {
    conn.run(|pg| sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(pg)).await.unwrap()
}

async fn add(session: &mut butler_store::Session) {
    session
        .run(|pg| sqlx::query("INSERT INTO episodes (tenant_id, butler, content) VALUES ('t', 'b', 'c')").execute(pg))
        .await
        .unwrap();
}

async fn count(database: &Database) -> i64 {
    let mut conn = database.owner().await.unwrap();
    conn.run(|pg| sqlx::query_scalar("SELECT count(*) FROM episodes").fetch_one(pg)).await.unwrap()
}

#[tokio::test]
async fn the_tenant_is_told_only_when_it_changes() {
    let db = TestDb::new().await;
    let statements = async |name| db.database().tenant(&tenant(name)).await.unwrap().statements();
    let first = statements("alice").await;
    assert_eq!(statements("alice").await, first, "the same tenant again costs no round trip");
    assert_eq!(statements("bob").await, first + 1);
}

#[tokio::test]
async fn a_changed_result_type_costs_one_call() {
    let db = TestDb::new().await;
    let run = async |statement: &'static str| {
        let mut conn = db.database().owner().await.unwrap();
        conn.run(|pg| sqlx::query(statement).execute(pg)).await
    };
    run("CREATE TABLE changed (told jsonb)").await.unwrap();
    {
        let (mut one, mut other) = (db.database().owner().await.unwrap(), db.database().owner().await.unwrap());
        for conn in [&mut one, &mut other] {
            conn.run(|pg| sqlx::query("SELECT told FROM changed").execute(pg)).await.unwrap();
        }
    }
    run("ALTER TABLE changed ALTER told TYPE json").await.unwrap();
    let mut refused = Vec::new();
    for _ in 0..4 {
        refused.extend(run("SELECT told FROM changed").await.err());
    }
    assert!(matches!(refused[..], [StoreError::Unavailable { .. }]), "{refused:?}");
}

#[tokio::test]
async fn a_transaction_that_is_not_committed_is_rolled_back() {
    let db = TestDb::new().await;
    let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
    {
        let mut tx = conn.begin().await.unwrap();
        add(&mut tx).await;
    }
    // the same session again: the rollback comes first
    let mut tx = conn.begin().await.unwrap();
    add(&mut tx).await;
    tx.commit().await.unwrap();
    assert_eq!(count(db.database()).await, 1);
    {
        let mut tx = conn.begin().await.unwrap();
        add(&mut tx).await;
    }
    drop(conn);
    let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
    add(&mut conn).await;
    assert_eq!(count(db.database()).await, 2, "the abandoned transaction is gone");
}

#[tokio::test]
async fn a_failed_step_of_a_transaction_leaves_the_others() {
    let db = TestDb::new().await;
    let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
    let mut tx = conn.begin().await.unwrap();
    add(&mut tx).await;
    {
        let mut step = tx.begin().await.unwrap();
        add(&mut step).await;
        let mut inner = step.begin().await.unwrap();
        add(&mut inner).await;
        assert!(inner.run(|pg| sqlx::query("SELECT 1 / 0").execute(pg)).await.is_err());
        // both dropped unfinished
    }
    let mut step = tx.begin().await.unwrap();
    add(&mut step).await;
    step.commit().await.unwrap();
    let step = tx.begin().await.unwrap();
    step.rollback().await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(count(db.database()).await, 2);
}

#[tokio::test]
async fn a_statement_abandoned_half_way_costs_its_connection_and_nobody_elses_answer() {
    let db = TestDb::new().await;
    let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
    let before = pid(&mut conn).await;
    let sleep = conn.run(|pg| sqlx::query("SELECT pg_sleep(60)").execute(pg));
    assert!(tokio::time::timeout(Duration::from_millis(50), sleep).await.is_err());
    let refused = conn.run(|pg| sqlx::query("SELECT 1").execute(pg)).await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused}");
    drop(conn);
    let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
    assert_ne!(pid(&mut conn).await, before);
}

#[tokio::test]
async fn after_the_server_dropped_all_connections_one_call_fails_clearly_and_the_next_succeed() {
    let db = TestDb::new().await;
    let mut conns = Vec::new();
    for _ in 0..5 {
        conns.push(db.database().tenant(&tenant("t")).await.unwrap());
    }
    drop(conns);
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'butler'",
    )
    .await;
    let mut failures = Vec::new();
    for _ in 0..10 {
        let mut conn = db.database().tenant(&tenant("t")).await.unwrap();
        if let Err(error) = conn.run(|pg| sqlx::query("SELECT 1").execute(pg)).await {
            failures.push(error);
        }
    }
    assert_eq!(failures.len(), 1, "one loss condemns all sessions of its time: {failures:?}");
    assert!(failures[0].is_unavailable() && failures[0].hint().is_some(), "{}", failures[0]);
}

#[tokio::test]
async fn a_lost_connection_that_changes_its_tenant_is_replaced_unnoticed() {
    let db = TestDb::new().await;
    drop(db.database().tenant(&tenant("t")).await.unwrap());
    db.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'butler'",
    )
    .await;
    let mut conn = db.database().tenant(&tenant("other")).await.unwrap();
    pid(&mut conn).await;
}

#[tokio::test]
async fn when_all_connections_are_busy_the_caller_is_told_after_the_timeout() {
    let db = TestDb::new().await;
    let mut options = db.options();
    options.pool_size = 1;
    options.connect_timeout = Duration::from_secs(10);
    let database = Database::connect(options).await.unwrap();
    let held = database.tenant(&tenant("t")).await.unwrap();
    let Err(error) = database.tenant(&tenant("t")).await else { panic!("there is only one connection") };
    assert!(error.is_unavailable() && error.to_string().contains("busy"), "{error}");
    drop(held);
    assert!(database.tenant(&tenant("t")).await.is_ok());
}

#[tokio::test]
async fn violations_are_named_by_what_they_mean() {
    let db = TestDb::new().await;
    let mut conn = db.database().owner().await.unwrap();
    let insert = "INSERT INTO entities (canonical_name, entity_type) VALUES ('Ada', 'person')";
    conn.run(|pg| sqlx::query(insert).execute(pg)).await.unwrap();
    let error = conn.run(|pg| sqlx::query(insert).execute(pg)).await.unwrap_err();
    assert_eq!(error.constraint(), Some(&butler_store::Constraint::EntityName), "{error}");
    let error = conn
        .run(|pg| sqlx::query("INSERT INTO episodes (butler, content, importance) VALUES ('b', 'c', 11)").execute(pg))
        .await
        .unwrap_err();
    assert_eq!(error.constraint(), Some(&butler_store::Constraint::Other("episodes_importance_range".to_owned())));
    // the session is none the worse for it
    let row = conn.run(|pg| sqlx::query("SELECT count(*) FROM entities").fetch_one(pg)).await.unwrap();
    assert_eq!(row.get::<i64, _>(0), 1);
}

#[tokio::test]
async fn a_closed_database_refuses_and_says_so() {
    let db = TestDb::new().await;
    drop(db.database().tenant(&tenant("t")).await.unwrap());
    db.database().close().await;
    assert_eq!(db.database().pool_stats().open, 0);
    assert!(matches!(db.database().tenant(&tenant("t")).await, Err(StoreError::Unavailable { .. })));
}

#[tokio::test]
async fn a_server_that_the_program_keeps_alive_is_said_to_come_back() {
    let options = DatabaseOptions::new("postgres://ann@127.0.0.1:1/nothing");
    let away = Database::connect(options.clone()).await.err().unwrap();
    assert!(
        matches!(away, StoreError::Unreachable { .. }) && away.hint().unwrap().contains("--database-url"),
        "{away}"
    );
    let own = Database::connect(DatabaseOptions { kept_alive: true, ..options }).await.err().unwrap();
    assert!(matches!(own, StoreError::Restarting { .. }) && own.is_unavailable(), "{own}");
    assert!(
        !own.hint().unwrap().contains("--database-url") && own.hint().unwrap().contains("`butler serve` restarts it"),
        "{own}"
    );
}
