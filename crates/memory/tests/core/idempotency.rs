//! The same key again returns the first result and writes nothing.

use std::sync::Arc;

use butler_testkit::MemoryFixture;
use futures::future::join_all;
use serde_json::json;

use crate::{count, everything, refused};

#[tokio::test]
async fn the_same_key_again_returns_the_first_result_and_writes_nothing() {
    let memory = MemoryFixture::new().await;
    let calls = [
        ("memory_store_fact", json!({"subject": "u", "predicate": "p", "content": "c", "idempotency_key": "k1"})),
        ("memory_store_rule", json!({"content": "Ask first", "request_context": {"idempotency_key": "k2"}})),
        ("memory_store_episode", json!({"content": "It rained", "butler": "general", "idempotency_key": "k3"})),
    ];
    for (tool, arguments) in calls {
        let first = memory.call(tool, arguments.clone()).await.unwrap();
        let before = everything(&memory).await;
        let texts = memory.embedder.texts();
        memory.clock.advance_days(1.0);
        assert_eq!(memory.call(tool, arguments).await.unwrap(), first, "{tool}");
        assert_eq!(everything(&memory).await, before, "{tool}");
        assert_eq!(memory.embedder.texts(), texts, "nothing is embedded for a known answer");
    }
}

#[tokio::test]
async fn the_answer_to_a_retry_names_what_the_first_call_superseded() {
    let memory = MemoryFixture::new().await;
    let old = crate::fact(&memory, "u", "p", "old").await;
    let arguments = json!({"subject": "u", "predicate": "p", "content": "new", "idempotency_key": "k"});
    let first = memory.call("memory_store_fact", arguments.clone()).await.unwrap();
    assert_eq!(first["superseded_id"], old);
    assert_eq!(memory.call("memory_store_fact", arguments).await.unwrap(), first);
    assert_eq!(count(&memory, "facts").await, 2);
}

#[tokio::test]
async fn the_same_key_with_other_arguments_is_a_conflict() {
    let memory = MemoryFixture::new().await;
    let keyed = |content: &str| json!({"content": content, "idempotency_key": "k"});
    memory.call("memory_store_rule", keyed("Ask first")).await.unwrap();
    let before = everything(&memory).await;
    let error = refused(&memory, "memory_store_rule", keyed("Shout")).await;
    assert_eq!(error.code.as_str(), "conflict");
    let other_tool = json!({"subject": "u", "predicate": "p", "content": "c", "idempotency_key": "k"});
    let error = refused(&memory, "memory_store_fact", other_tool).await;
    assert!(error.message.contains("memory_store_rule"), "{}", error.message);
    let twice = json!({"content": "x", "idempotency_key": "k", "request_context": {"idempotency_key": "other"}});
    assert_eq!(refused(&memory, "memory_store_rule", twice).await.code.as_str(), "invalid_argument");
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn keys_belong_to_their_tenant() {
    let memory = MemoryFixture::new().await;
    let of = |tenant: &str| json!({"content": "Ask first", "idempotency_key": "k", "request_context": {"tenant_id": tenant}});
    let a = memory.call("memory_store_rule", of("a")).await.unwrap();
    let b = memory.call("memory_store_rule", of("b")).await.unwrap();
    assert_ne!(a["id"], b["id"]);
}

#[tokio::test]
async fn a_call_that_was_refused_leaves_its_key_free() {
    let memory = MemoryFixture::new().await;
    let episode = "0190b3c4-7a5e-7f00-8000-000000000000";
    let wrong =
        json!({"subject": "u", "predicate": "p", "content": "c", "idempotency_key": "k", "source_episode_id": episode});
    refused(&memory, "memory_store_fact", wrong).await;
    let right = json!({"subject": "u", "predicate": "p", "content": "c", "idempotency_key": "k"});
    memory.call("memory_store_fact", right).await.unwrap();
    assert_eq!(count(&memory, "facts").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_calls_with_one_key_yield_one_row() {
    let memory = Arc::new(MemoryFixture::new().await);
    let calls = (0..16).map(|_| {
        let memory = memory.clone();
        tokio::spawn(async move {
            let arguments = json!({"subject": "u", "predicate": "p", "content": "c", "idempotency_key": "k"});
            memory.call("memory_store_fact", arguments).await.unwrap()
        })
    });
    let answers: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(answers.iter().all(|answer| answer == &answers[0]), "{answers:?}");
    assert_eq!((count(&memory, "facts").await, count(&memory, "memory_events").await), (1, 1));
}

#[tokio::test]
async fn old_keys_are_removed_by_the_sweep() {
    let memory = MemoryFixture::new().await;
    memory.call("memory_store_rule", json!({"content": "Ask first", "idempotency_key": "k"})).await.unwrap();
    memory.clock.advance_days(29.0);
    assert_eq!(memory.memory.sweep(None).await.unwrap().idempotency_keys_removed, 0);
    memory.clock.advance_days(2.0);
    assert_eq!(memory.memory.sweep(None).await.unwrap().idempotency_keys_removed, 1);
}
