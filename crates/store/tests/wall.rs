//! The second wall between tenants: row-level security behind every statement.

use domain::TenantId;
use testkit::TestDb;

async fn count(conn: &mut store::Conn) -> i64 {
    conn.run(|pg| sqlx::query_scalar("SELECT count(*) FROM episodes").fetch_one(pg)).await.unwrap()
}

async fn add_episode(conn: &mut store::Conn, tenant: &str) -> Result<(), store::StoreError> {
    let tenant = tenant.to_owned();
    conn.run(|pg| {
        sqlx::query("INSERT INTO episodes (tenant_id, butler, content) VALUES ($1, 'general', 'hello')")
            .bind(tenant)
            .execute(pg)
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_statement_without_tenant_filter_sees_only_its_tenant() {
    let db = TestDb::new().await;
    let (alice, bob) = (TenantId::new("alice").unwrap(), TenantId::new("bob").unwrap());
    let mut conn = db.database().tenant(&alice).await.unwrap();
    add_episode(&mut conn, "alice").await.unwrap();
    assert_eq!(count(&mut conn).await, 1);
    drop(conn);
    let mut conn = db.database().tenant(&bob).await.unwrap();
    assert_eq!(count(&mut conn).await, 0);
    let refused = add_episode(&mut conn, "alice").await.unwrap_err();
    assert!(refused.to_string().contains("row-level security"), "{refused}");
    assert_eq!(count(&mut db.database().owner().await.unwrap()).await, 1);
}
