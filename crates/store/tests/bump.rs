//! Counting references costs a large tenant what it costs a small one, however the tables' rows are spread.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_testkit::TestDb;
use sqlx::PgConnection;
use uuid::Uuid;

/// The blocks touched by counting ten of a tenant's facts, once the plans no longer look at who asks.
async fn blocks(conn: &mut PgConnection, tenant: &str) -> i64 {
    sqlx::query("SELECT set_config('butler.tenant', $1, false)").bind(tenant).execute(&mut *conn).await.unwrap();
    let ids: Vec<Uuid> =
        sqlx::query_scalar("SELECT id FROM facts WHERE tenant_id = $1 ORDER BY md5(predicate), id LIMIT 10")
            .bind(tenant)
            .fetch_all(&mut *conn)
            .await
            .unwrap();
    assert_eq!(ids.len(), 10);
    let mut touched = 0;
    for _ in 0..8 {
        let plan: serde_json::Value = sqlx::query_scalar(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM memory_bump($1, now(), $2, '{}', '{}')",
        )
        .bind(tenant)
        .bind(&ids)
        .fetch_one(&mut *conn)
        .await
        .unwrap();
        let plan = &plan[0]["Plan"];
        touched = plan["Shared Hit Blocks"].as_i64().unwrap() + plan["Shared Read Blocks"].as_i64().unwrap();
    }
    touched
}

#[tokio::test]
async fn references_are_counted_by_id_whatever_the_size_of_the_tenant() {
    let db = TestDb::new().await;
    let mut conn = db.connect().await;
    sqlx::query(
        "INSERT INTO facts (tenant_id, subject, predicate, content)
         SELECT tenant, 's', 'p' || n, 'c' FROM (
             SELECT 'large' AS tenant, n FROM generate_series(1, 30000) AS n
             UNION ALL SELECT 'small' || t, n FROM generate_series(1, 300) AS t, generate_series(1, 10) AS n) AS spread",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    sqlx::raw_sql("VACUUM ANALYZE facts").execute(&mut conn).await.unwrap();
    sqlx::raw_sql("SET ROLE butler_app").execute(&mut conn).await.unwrap();
    let small = blocks(&mut conn, "small7").await;
    let large = blocks(&mut conn, "large").await;
    assert!(large < 2 * small, "{large} blocks for ten of 30000 facts, {small} for ten of ten");
}
