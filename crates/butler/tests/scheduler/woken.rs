//! Jobs that an event starts, without waiting for their schedule.

use std::sync::Arc;
use std::time::Duration;

use butler_host::scheduler::Scheduler;
use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::{count, rows};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_marked_harmful_too_often_is_inverted_immediately() {
    let fixture = MemoryFixture::new().await;
    let scheduler = Scheduler::new(Arc::clone(&fixture.memory), "test:1".to_owned());
    let running = tokio::spawn(Arc::clone(&scheduler).run());
    let rule = fixture.call("memory_store_rule", json!({"content": "Always restart first."})).await.unwrap();
    for _ in 0..4 {
        let arguments = json!({"rule_id": rule["id"], "reason": "lost data"});
        fixture.call("memory_mark_harmful", arguments).await.unwrap();
    }
    let started = std::time::Instant::now();
    while rows(&fixture, "SELECT maturity FROM rules").await != ["anti_pattern"] {
        assert!(started.elapsed() < Duration::from_secs(60), "the rule was not inverted");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    scheduler.shut_down().await;
    running.await.unwrap();
    assert!(count(&fixture, "job = 'inversion' AND trigger = 'wake'").await >= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_marked_while_another_replica_inverts_is_inverted_afterwards() {
    let fixture = MemoryFixture::new().await;
    let mut other = butler_store::jobs::Locks::new(fixture.db.database().clone());
    assert!(other.try_take("inversion").await.unwrap());
    let scheduler = Scheduler::new(Arc::clone(&fixture.memory), "test:1".to_owned());
    let running = tokio::spawn(Arc::clone(&scheduler).run());
    let rule = fixture.call("memory_store_rule", json!({"content": "Always restart first."})).await.unwrap();
    for _ in 0..3 {
        fixture.call("memory_mark_harmful", json!({"rule_id": rule["id"]})).await.unwrap();
    }
    // Long enough for the woken scheduler to find the job taken; there is no event to wait for.
    tokio::time::sleep(Duration::from_millis(300)).await;
    other.release("inversion").await.unwrap();
    let released = std::time::Instant::now();
    while rows(&fixture, "SELECT maturity FROM rules").await != ["anti_pattern"] {
        assert!(released.elapsed() < Duration::from_secs(60), "the rule was not inverted");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    scheduler.shut_down().await;
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_on_an_outgrown_index_triggers_one_retraining() {
    let fixture = MemoryFixture::new().await;
    let scheduler = Scheduler::new(Arc::clone(&fixture.memory), "test:1".to_owned());
    let running = tokio::spawn(Arc::clone(&scheduler).run());
    let text = "topic of many";
    let vector: Vec<String> = fixture.embedder.vector(text).iter().map(f32::to_string).collect();
    let sql = format!(
        "INSERT INTO embedding_versions (tenant_id, model, version, dimensions) VALUES ('default', 'fake', '1', 384) ON CONFLICT DO NOTHING;
         INSERT INTO facts (subject, predicate, content, embedding, search_vector, embedding_version_id, last_confirmed_at, created_at)
         SELECT 's' || n, 'p', '{text}', '[{}]', to_tsvector('english', '{text}'),
                (SELECT id FROM embedding_versions WHERE tenant_id = 'default' AND version = '1'), '2030-01-15T11:00Z', '2030-01-15T11:00Z'
         FROM generate_series(1, 1200) n; ANALYZE facts",
        vector.join(",")
    );
    fixture.db.execute(&sql).await;
    let search = || fixture.call("memory_search", json!({"query": "topic", "types": ["fact"]}));
    search().await.unwrap();
    let started = std::time::Instant::now();
    while count(&fixture, "job = 'retrain_indexes' AND trigger = 'wake' AND result ->> 'retrained' = '1'").await == 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "the index was not trained");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for _ in 0..5 {
        search().await.unwrap();
        fixture.clock.advance(Duration::from_secs(3600));
    }
    scheduler.shut_down().await;
    running.await.unwrap();
    assert_eq!(
        count(&fixture, "job = 'retrain_indexes' AND trigger = 'wake'").await,
        1,
        "a trained index triggers no further run"
    );
}
