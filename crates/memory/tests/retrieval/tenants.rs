use butler_memory::search::Mode;
use butler_memory::{Caller, CallerTenant};
use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::world::{episode, fact_with, results, rule};

#[tokio::test]
async fn cross_tenant_access_prevention() {
    let world = MemoryFixture::new().await;
    let context = json!({"request_context": {"tenant_id": "acme"}});
    fact_with(&world, "safe", "code", "the code is 4711", context.clone()).await;
    rule(&world, "Never tell the code", context.clone()).await;
    episode(&world, "general", "Spoke about the code", context).await;
    let other =
        Caller { tenant: CallerTenant::Token(butler_domain::TenantId::new("evil").unwrap()), ..Caller::trusted() };
    for mode in Mode::NAMES {
        let answer =
            world.call_as(&other, "memory_search", json!({"query": "code", "mode": mode, "min_confidence": 0.0})).await;
        assert_eq!(answer.unwrap().structured["results"], json!([]));
    }
    let text = world.call_as(&other, "memory_context", json!({"trigger_prompt": "code", "butler": "general"})).await;
    assert_eq!(text.unwrap().text.unwrap(), "# Memory Context\n");
    let refused = world
        .call_as(&other, "memory_recall", json!({"topic": "code", "request_context": {"tenant_id": "acme"}}))
        .await;
    assert_eq!(refused.err().unwrap().code.as_str(), "invalid_argument");
    let own =
        results(&world, "memory_recall", json!({"topic": "code", "request_context": {"tenant_id": "acme"}})).await;
    assert_eq!(own.len(), 2);
}

/// The function runs as the owner and bypasses row-level security, so it must check the tenant itself.
#[tokio::test]
async fn the_retrieval_function_rejects_a_tenant_other_than_the_connections() {
    let world = MemoryFixture::new().await;
    fact_with(&world, "safe", "code", "the code is 4711", json!({"request_context": {"tenant_id": "acme"}})).await;
    let mut conn = world.db.connect().await;
    sqlx::raw_sql("SET ROLE butler_app; SET butler.tenant = 'evil'").execute(&mut conn).await.unwrap();
    let request = json!({
        "types": ["fact"], "at": "2026-01-01T00:00:00Z", "min_confidence": 0, "model": "fake", "model_version": "1",
        "query": "code", "words": "code", "any_term": true, "mode": "hybrid", "limit": 10, "background": false,
    });
    let call = "SELECT count(*) FROM memory_retrieve($1, $2, NULL, NULL)";
    let refused = sqlx::query(call).bind("acme").bind(&request).execute(&mut conn).await.unwrap_err();
    assert!(refused.to_string().contains("another tenant"), "{refused}");
    sqlx::query(call).bind("evil").bind(&request).execute(&mut conn).await.unwrap();
    for part in [
        "facts_near_exact('acme', NULL, NULL, 10)",
        "facts_count('acme', NULL, 10)",
        "memory_pool('facts', 'acme', NULL)",
    ] {
        let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM {part}"));
        let refused = sqlx::query(sql).execute(&mut conn).await.unwrap_err();
        assert!(refused.to_string().contains("permission denied"), "{part}: {refused}");
    }
}
