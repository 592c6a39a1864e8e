use butler_domain::TenantId;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::world::{episode, fact, rule};

/// The number of statements of a tool call, without the one that sets the tenant on a new connection.
async fn statements(world: &MemoryFixture, tool: &str, arguments: Value) -> u64 {
    // Called twice, so that the tenant is already set on the session of the second call.
    for _ in 0..2 {
        world.call(tool, arguments.clone()).await.unwrap();
    }
    let sent = || async { world.db.database().relaxed(&TenantId::default()).await.unwrap().statements() };
    let before = sent().await;
    world.call(tool, arguments).await.unwrap();
    sent().await - before
}

#[tokio::test]
async fn search_recall_and_context_are_one_statement_and_one_after_the_answer() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    rule(&world, "Mind the diet", json!({})).await;
    episode(&world, "health", "Talked about the diet", json!({})).await;
    for mode in ["semantic", "keyword", "hybrid", "deep"] {
        assert_eq!(statements(&world, "memory_search", json!({"query": "diet", "mode": mode})).await, 2, "{mode}");
    }
    let all = json!({"query": "diet", "min_relevance": 0.01, "explain": true});
    assert_eq!(statements(&world, "memory_search", all).await, 2);
    assert_eq!(statements(&world, "memory_recall", json!({"topic": "diet"})).await, 2);
    assert_eq!(statements(&world, "memory_context", json!({"trigger_prompt": "diet", "butler": "health"})).await, 2);
    assert_eq!(statements(&world, "memory_search", json!({"query": ""})).await, 0);
}
