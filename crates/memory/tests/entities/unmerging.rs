//! A merge can be undone.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{create, everything, person, rows};

async fn store(memory: &MemoryFixture, fact: Value) -> Value {
    memory.call("memory_store_fact", fact).await.expect("a fact")
}

async fn merge(memory: &MemoryFixture, source: &str, target: &str) {
    let arguments = json!({"source_entity_id": source, "target_entity_id": target});
    memory.call("entity_merge", arguments).await.expect("a merge");
}

async fn unmerge(memory: &MemoryFixture, entity: &str) -> Result<Value, butler_memory::tool::ToolError> {
    memory.call("entity_unmerge", json!({"entity_id": entity})).await
}

/// What a merge changes, without the times of changes.
async fn state(memory: &MemoryFixture) -> Vec<Value> {
    // a stored fact is compared with others in the background, which may link it to one
    memory.memory.db().settled().await;
    let facts =
        "SELECT content, validity, entity_id, object_entity_id, slot, supersedes_id FROM facts ORDER BY content, id";
    let entities = "SELECT canonical_name, aliases, metadata FROM entities ORDER BY canonical_name";
    let links = "SELECT source_id, target_id, relation FROM memory_links ORDER BY source_id, target_id";
    [rows(memory, facts).await, rows(memory, entities).await, rows(memory, links).await].concat()
}

#[tokio::test]
async fn undoing_a_merge_restores_facts_relations_names_and_metadata() {
    let memory = MemoryFixture::new().await;
    let robert =
        create(&memory, json!({"canonical_name": "Robert Berg", "entity_type": "person", "metadata": {"a": 1}})).await;
    let bob = create(
        &memory,
        json!({"canonical_name": "Bob", "entity_type": "person", "aliases": ["Bobby"], "metadata": {"a": 2, "b": 3}}),
    )
    .await;
    person(&memory, "Ann", &[]).await;
    store(&memory, json!({"subject": "Bob", "predicate": "city", "content": "Bonn"})).await;
    store(&memory, json!({"subject": "Bob", "predicate": "job", "content": "old job"})).await;
    store(&memory, json!({"subject": "Robert Berg", "predicate": "pet", "content": "a cat"})).await;
    store(&memory, json!({"subject": "Bob", "predicate": "pet", "content": "a dog"})).await;
    memory.clock.advance_days(100.0);
    store(&memory, json!({"subject": "Robert Berg", "predicate": "city", "content": "Kiel"})).await;
    store(&memory, json!({"subject": "Bob", "predicate": "job", "content": "new job"})).await;
    for object in ["Bob", "Robert Berg"] {
        store(
            &memory,
            json!({"subject": "Ann", "predicate": "knows", "content": format!("Ann knows {object}"), "object": object}),
        )
        .await;
    }
    let before = state(&memory).await;
    merge(&memory, &bob, &robert).await;
    assert_ne!(state(&memory).await, before);
    let undone = unmerge(&memory, &bob).await.unwrap();
    assert_eq!(state(&memory).await, before, "{undone}");
    assert_eq!(
        (&undone["facts_moved"], &undone["facts_restored"], &undone["aliases_removed"]),
        (&json!(5), &json!(3), &json!(2))
    );
    let events = "SELECT DISTINCT event_type FROM memory_events WHERE event_type IN ('entity_unmerged', 'fact_restored') ORDER BY 1";
    assert_eq!(rows(&memory, events).await.len(), 2);
    merge(&memory, &bob, &robert).await;
    assert!(unmerge(&memory, &bob).await.is_ok(), "it can be merged and undone again");
}

#[tokio::test]
async fn what_was_written_since_stays_unless_it_names_the_source() {
    let memory = MemoryFixture::new().await;
    let (bob, robert) = (person(&memory, "Bob", &[]).await, person(&memory, "Robert", &[]).await);
    store(&memory, json!({"subject": "Bob", "predicate": "city", "content": "Bonn"})).await;
    merge(&memory, &bob, &robert).await;
    memory.clock.advance_days(1.0);
    store(&memory, json!({"subject": "Robert", "predicate": "job", "content": "pilot"})).await;
    store(&memory, json!({"subject": "BOB", "predicate": "city", "content": "Ulm"})).await;
    unmerge(&memory, &bob).await.unwrap();
    let facts = "SELECT f.content, f.validity, e.canonical_name FROM facts f JOIN entities e ON e.id = f.entity_id ORDER BY f.content";
    assert_eq!(
        rows(&memory, facts).await,
        [
            json!({"content": "Bonn", "validity": "superseded", "canonical_name": "Bob"}),
            json!({"content": "Ulm", "validity": "active", "canonical_name": "Bob"}),
            json!({"content": "pilot", "validity": "active", "canonical_name": "Robert"}),
        ]
    );
}

#[tokio::test]
async fn what_cannot_be_undone_is_refused_and_changes_nothing() {
    let memory = MemoryFixture::new().await;
    let (a, b, c) = (person(&memory, "A", &[]).await, person(&memory, "B", &[]).await, person(&memory, "C", &[]).await);
    merge(&memory, &a, &b).await;
    merge(&memory, &b, &c).await;
    let before = everything(&memory).await;
    let chain = unmerge(&memory, &a).await.unwrap_err();
    assert!(chain.hint.unwrap().contains(&b), "{}", chain.message);
    for (entity, code) in [(&c, "invalid_state"), (&uuid::Uuid::nil().to_string(), "not_found")] {
        assert_eq!(unmerge(&memory, entity).await.unwrap_err().code.as_str(), code);
    }
    let foreign = json!({"entity_id": b, "request_context": {"tenant_id": "other"}});
    assert_eq!(memory.call("entity_unmerge", foreign).await.unwrap_err().code.as_str(), "not_found");
    assert_eq!(everything(&memory).await, before);
    unmerge(&memory, &b).await.unwrap();
    unmerge(&memory, &a).await.unwrap();
    let twice = unmerge(&memory, &a).await.unwrap_err();
    assert!(twice.message.contains("not merged"), "{}", twice.message);
}

#[tokio::test]
async fn what_the_merge_linked_by_a_shared_name_is_ambiguous_again() {
    let memory = MemoryFixture::new().await;
    let (a, b) = (person(&memory, "Kim A", &["Kim"]).await, person(&memory, "Kim B", &["Kim"]).await);
    store(&memory, json!({"subject": "Kim A", "predicate": "job", "content": "pilot"})).await;
    let ambiguous = store(&memory, json!({"subject": "Kim", "predicate": "job", "content": "teacher"})).await;
    assert_eq!(ambiguous["entity_id"], Value::Null);
    store(&memory, json!({"subject": "Kim", "predicate": "pet", "content": "a cat"})).await;
    memory.clock.advance_days(1.0);
    let before = state(&memory).await;
    let arguments = json!({"source_entity_id": b, "target_entity_id": a});
    let merged = memory.call("entity_merge", arguments).await.unwrap();
    assert_eq!(merged["facts_repointed"], 2, "{merged}");
    assert_ne!(state(&memory).await, before);
    memory.clock.advance_days(1.0);
    unmerge(&memory, &b).await.unwrap();
    assert_eq!(state(&memory).await, before);
}
