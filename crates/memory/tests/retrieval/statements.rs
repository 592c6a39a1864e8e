use std::sync::Arc;
use std::time::Duration;

use butler_domain::{Butler, TenantId};
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::{Database, DatabaseOptions};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::world::{episode, fact, rule};

/// The same memory through at most this many sessions, half of which read.
async fn through(world: MemoryFixture, pool_size: usize) -> MemoryFixture {
    let db = Database::connect(DatabaseOptions { pool_size, ..world.db.options() }).await.unwrap();
    let memory = Memory::new(MemoryParts {
        butler: Butler::new("general").unwrap(),
        db,
        embedder: world.embedder.clone(),
        clock: world.clock.clone(),
        config: MemoryConfig::default(),
    });
    MemoryFixture { memory: Arc::new(memory), ..world }
}

/// The number of statements of a tool call, without the one that sets the tenant on a new connection.
async fn statements(world: &MemoryFixture, tool: &str, arguments: Value) -> u64 {
    // Called twice, so that the tenant is already set on the session of the second call.
    for _ in 0..2 {
        world.call(tool, arguments.clone()).await.unwrap();
    }
    let sent = || async { world.memory.db().relaxed(&TenantId::default()).await.unwrap().statements() };
    let before = sent().await;
    world.call(tool, arguments).await.unwrap();
    sent().await - before
}

#[tokio::test]
async fn search_recall_and_context_are_one_statement_and_one_after_the_answer() {
    let world = through(MemoryFixture::new().await, 1).await;
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

#[tokio::test]
async fn facts_are_searched_beside_the_rest_with_the_same_answer() {
    let world = MemoryFixture::new().await;
    let john = fact(&world, "John", "diet", "vegetarian").await;
    fact(&world, "John", "married_to", "Ann").await;
    rule(&world, "Mind the diet of guests", json!({})).await;
    for day in 0..5 {
        episode(&world, "health", &format!("Talked about the diet on day {day}"), json!({})).await;
    }
    let calls = [
        ("memory_search", json!({"query": "John's diet"})),
        ("memory_search", json!({"query": "diett", "mode": "deep", "hops": 2, "min_relevance": 0.01})),
        ("memory_recall", json!({"topic": "John's diet"})),
        ("memory_context", json!({"trigger_prompt": "What does John eat?", "butler": "health"})),
        ("memory_context", json!({"trigger_prompt": "", "butler": "health"})),
    ];
    let one = through(world, 1).await;
    let mut expected = Vec::new();
    // Asked once before, because the first recall makes memories recent.
    for (tool, arguments) in calls.iter().chain(&calls) {
        expected.push(one.call(tool, arguments.clone()).await.unwrap());
    }
    let expected = expected.split_off(calls.len());
    assert!(expected[0].to_string().contains(&john.to_string()));
    let several = through(one, 8).await;
    // The second session is opened by the first search, for later ones.
    let opened = async {
        loop {
            several.call("memory_search", calls[0].1.clone()).await.unwrap();
            several.memory.db().settled().await;
            if last_searched(&several).await > 0 {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), opened).await.expect("with two processors, a second session");
    for ((tool, arguments), expected) in calls.iter().zip(expected) {
        assert_eq!(several.call(tool, arguments.clone()).await.unwrap(), expected, "{tool} {arguments}");
    }
}

/// The number of sessions whose last statement was a search. The one that recorded what was served is not among them.
async fn last_searched(world: &MemoryFixture) -> i64 {
    let sql = "SELECT count(*) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%FROM memory_retrieve(%'";
    sqlx::query_scalar(sql).fetch_one(&mut world.db.connect().await).await.unwrap()
}
