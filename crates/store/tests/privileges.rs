//! A server where butler is not the superuser.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::str::FromStr;

use butler_store::{Database, DatabaseOptions, StoreError};
use butler_testkit::{TestDb, TestServer};
use sqlx::postgres::PgConnectOptions;

/// A role of the test's own, and the URL that logs in as it.
async fn login(db: &TestDb, rights: &str) -> (String, String) {
    let server = TestServer::shared().await;
    let role = format!("role_{}", db.name());
    let password = uuid::Uuid::new_v4().simple().to_string();
    server.execute(format!("CREATE ROLE {role} LOGIN PASSWORD '{password}' {rights}")).await.unwrap();
    let url = db.url();
    let (_, rest) = url.split_once('@').unwrap();
    let url = format!("postgres://{role}:{password}@{rest}");
    assert!(PgConnectOptions::from_str(&url).is_ok());
    (role, url)
}

async fn migrate(url: &str) -> Result<Database, StoreError> {
    let database = Database::connect(DatabaseOptions::new(url)).await?;
    database.migrate().await?;
    Ok(database)
}

async fn remove(db: TestDb, role: &str) {
    db.execute(&format!("DROP OWNED BY {role} CASCADE")).await;
    let server = TestServer::shared().await;
    server.execute(format!("ALTER DATABASE {} OWNER TO CURRENT_USER", db.name())).await.unwrap();
    server.execute(format!("DROP ROLE {role}")).await.unwrap();
}

#[tokio::test]
async fn a_role_that_may_not_create_pgvector_is_told_what_an_administrator_must_do() {
    let db = TestDb::empty().await;
    let (role, url) = login(&db, "NOCREATEROLE").await;
    let error = migrate(&url).await.unwrap_err();
    assert!(matches!(error, StoreError::VectorDenied { .. }), "{error}");
    assert!(error.hint().unwrap().contains("CREATE EXTENSION vector WITH SCHEMA public"));
    remove(db, &role).await;
}

#[tokio::test]
async fn an_ordinary_owner_needs_only_the_extension_and_the_roles() {
    // makes the roles, which belong to the cluster
    drop(TestDb::new().await);
    let db = TestDb::empty().await;
    let (role, url) = login(&db, "NOCREATEROLE").await;
    TestServer::shared().await.execute(format!("ALTER DATABASE {} OWNER TO {role}", db.name())).await.unwrap();
    db.execute(&format!("CREATE EXTENSION vector; GRANT CREATE ON SCHEMA public TO {role}")).await;
    let error = migrate(&url).await.unwrap_err();
    assert!(
        error.hint().unwrap_or_default().contains("GRANT butler_app, butler_retention"),
        "{error}: {:?}",
        error.hint()
    );
    TestServer::shared().await.execute(format!("GRANT butler_app, butler_retention TO {role}")).await.unwrap();
    let database = migrate(&url).await.unwrap();
    let tenant = butler_domain::TenantId::default();
    let mut conn = database.tenant(&tenant).await.unwrap();
    let insert = "INSERT INTO episodes (butler, content) VALUES ('b', 'c')";
    conn.run(|pg| sqlx::query(insert).execute(pg)).await.unwrap();
    drop(conn);
    let mut owner = database.owner().await.unwrap();
    let seen: i64 = owner.run(|pg| sqlx::query_scalar("SELECT count(*) FROM episodes").fetch_one(pg)).await.unwrap();
    assert_eq!(seen, 1, "the owner sees all tenants though it is no superuser");
    drop(owner);
    database.close().await;
    remove(db, &role).await;
}
