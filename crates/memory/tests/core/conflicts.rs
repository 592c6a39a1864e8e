//! Conflicts: found when a fact is stored and by the job, listed, resolved, reopened, and marked in a context.

use butler_memory::MemoryConfig;
use butler_memory::jobs::JobRequest;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{count, events_of, fact, refused, row, rows, store_fact};

async fn conflicts(memory: &MemoryFixture) -> Vec<Value> {
    let answer = memory.call("memory_conflicts", json!({"action": "list"})).await.unwrap();
    answer["conflicts"].as_array().unwrap().clone()
}

async fn in_scope(memory: &MemoryFixture, scope: &str, content: &str) -> Value {
    let fact = json!({"subject": "Anna", "predicate": "weight_goal", "content": content, "scope": scope});
    store_fact(memory, fact).await["id"].clone()
}

/// The only open conflict, with the letters of the older and the newer fact.
async fn open_conflict(memory: &MemoryFixture) -> (Value, Value, Value) {
    let older = in_scope(memory, "global", "Wants to weigh 72 kg").await;
    memory.clock.advance(std::time::Duration::from_secs(1));
    let newer = in_scope(memory, "health", "Wants to weigh 75 kg").await;
    let open = conflicts(memory).await;
    assert_eq!(open.len(), 1, "{open:?}");
    (open[0].clone(), older, newer)
}

fn letter(conflict: &Value, fact: &Value) -> &'static str {
    if conflict["a"]["id"] == *fact { "a" } else { "b" }
}

async fn resolve(memory: &MemoryFixture, conflict: &Value, resolution: &str) -> Value {
    let arguments = json!({"action": "resolve", "conflict_id": conflict["id"], "resolution": resolution});
    memory.call("memory_conflicts", arguments).await.unwrap()["conflicts"][0].clone()
}

#[tokio::test]
async fn two_scopes_that_disagree_are_a_conflict_with_both_sides_provenance() {
    let memory = MemoryFixture::new().await;
    let (conflict, older, newer) = open_conflict(&memory).await;
    assert_eq!((&conflict["kind"], &conflict["why"]), (&json!("contradiction"), &json!("number")));
    assert_eq!(conflict["found_by"], "store");
    for (id, content) in [(&older, "Wants to weigh 72 kg"), (&newer, "Wants to weigh 75 kg")] {
        let side = &conflict[letter(&conflict, id)];
        assert_eq!((&side["id"], &side["content"]), (id, &json!(content)));
        assert_eq!(side["source_butler"], "general");
        assert!(side["effective_confidence"].as_f64() > Some(0.99), "{side}");
        assert!(side["created_at"].is_string());
        assert_eq!(side["source"], "agent");
    }
    let links = rows(&memory, "SELECT source_id, target_id FROM memory_links WHERE relation = 'contradicts'").await;
    assert_eq!(links, [json!({"source_id": newer, "target_id": older})]);
    assert_eq!(events_of(&memory, &newer).await, ["fact_created", "conflict_found"]);
}

/// Both are compared in one batch.
#[tokio::test]
async fn a_conflict_is_found_in_the_request_that_stored_the_newer_fact() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "Anna", "hobby", "Plays chess in a club").await;
    for (scope, content, request) in
        [("global", "Wants to weigh 72 kg", "first"), ("health", "Wants to weigh 75 kg", "second")]
    {
        let fact = json!({"subject": "Anna", "predicate": "weight_goal", "content": content, "scope": scope,
                          "request_context": {"request_id": request}});
        store_fact(&memory, fact).await;
        memory.clock.advance(std::time::Duration::from_secs(1));
    }
    assert_eq!(conflicts(&memory).await.len(), 1);
    let found = rows(&memory, "SELECT request_id FROM memory_events WHERE event_type = 'conflict_found'").await;
    assert_eq!(found, [json!({"request_id": "second"})]);
}

#[tokio::test]
async fn the_same_statement_and_values_that_coexist_are_no_conflict() {
    let memory = MemoryFixture::new().await;
    in_scope(&memory, "global", "Wants to weigh 72 kg").await;
    in_scope(&memory, "health", "wants to weigh 72 kg.").await;
    fact(&memory, "Anna", "likes", "green tea").await;
    fact(&memory, "Anna", "likes", "black coffee").await;
    fact(&memory, "Bob", "weight_goal", "Wants to weigh 80 kg").await;
    assert_eq!(conflicts(&memory).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_statement_under_another_predicate_that_denies_it_is_a_conflict() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "Anna", "food", "Eats meat on most days of the week").await;
    fact(&memory, "Anna", "food habits", "Never eats meat on most days of the week").await;
    let open = conflicts(&memory).await;
    assert_eq!(open.len(), 1);
    assert_eq!((&open[0]["kind"], &open[0]["why"]), (&json!("contradiction"), &json!("negation")));
}

#[tokio::test]
async fn keeping_one_side_forgets_the_other_and_can_be_undone() {
    let memory = MemoryFixture::new().await;
    let (conflict, older, newer) = open_conflict(&memory).await;
    let resolved = resolve(&memory, &conflict, &format!("keep_{}", letter(&conflict, &newer))).await;
    assert_eq!(resolved["resolution"], format!("keep_{}", letter(&conflict, &newer)));
    assert_eq!(row(&memory, "facts", &older).await["validity"], "retracted");
    assert_eq!(row(&memory, "facts", &newer).await["validity"], "active");
    assert_eq!(conflicts(&memory).await, [] as [Value; 0]);
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'conflict_resolved'").await, 1);
    let again = json!({"action": "resolve", "conflict_id": conflict["id"], "resolution": "keep_both"});
    assert!(refused(&memory, "memory_conflicts", again).await.message.contains("resolved already"));

    let reopen = json!({"action": "reopen", "conflict_id": conflict["id"]});
    memory.call("memory_conflicts", reopen).await.unwrap();
    assert_eq!(conflicts(&memory).await.len(), 1);
    assert_eq!(row(&memory, "facts", &older).await["validity"], "active", "the fact is restored with it");
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'conflict_reopened'").await, 1);
}

#[tokio::test]
async fn keeping_both_ends_the_contradiction() {
    let memory = MemoryFixture::new().await;
    let (conflict, older, newer) = open_conflict(&memory).await;
    resolve(&memory, &conflict, "keep_both").await;
    for id in [&older, &newer] {
        assert_eq!(row(&memory, "facts", id).await["validity"], "active");
    }
    assert_eq!(count(&memory, "memory_links WHERE relation = 'contradicts'").await, 0);
    memory.memory.run_job("conflicts", &JobRequest::default()).await.unwrap();
    assert_eq!(conflicts(&memory).await, [] as [Value; 0], "a resolved pair is not found again");
}

#[tokio::test]
async fn reopening_leaves_alone_what_the_resolution_did_not_change() {
    let memory = MemoryFixture::new().await;
    let (conflict, _, newer) = open_conflict(&memory).await;
    resolve(&memory, &conflict, "keep_both").await;
    memory.clock.advance_days(1.0);
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": newer})).await.unwrap();
    memory.clock.advance_days(1.0);
    memory.call("memory_conflicts", json!({"action": "reopen", "conflict_id": conflict["id"]})).await.unwrap();
    assert_eq!(row(&memory, "facts", &newer).await["validity"], "retracted", "it was forgotten later, on purpose");
}

#[tokio::test]
async fn keeping_both_may_say_since_when_b_is_true() {
    let memory = MemoryFixture::new().await;
    let (conflict, ..) = open_conflict(&memory).await;
    let arguments = json!({"action": "resolve", "conflict_id": conflict["id"], "resolution": "keep_both",
                           "valid_from": "2029", "scope": "sport"});
    memory.call("memory_conflicts", arguments).await.unwrap();
    let moved =
        rows(&memory, "SELECT content, scope, valid_from FROM facts WHERE validity = 'active' AND scope = 'sport'")
            .await;
    assert_eq!((moved.len(), &moved[0]["content"]), (1, &conflict["b"]["content"]));
    assert!(moved[0]["valid_from"].as_str().unwrap().starts_with("2029-01-01"));
    assert_eq!(row(&memory, "facts", &conflict["b"]["id"]).await["validity"], "superseded");

    memory.call("memory_conflicts", json!({"action": "reopen", "conflict_id": conflict["id"]})).await.unwrap();
    assert_eq!(row(&memory, "facts", &conflict["b"]["id"]).await["validity"], "active");
    assert_eq!(count(&memory, "facts WHERE validity = 'active' AND scope = 'sport'").await, 0);
}

#[tokio::test]
async fn merging_stores_one_text_and_forgetting_both_keeps_none() {
    let memory = MemoryFixture::new().await;
    let (conflict, ..) = open_conflict(&memory).await;
    let without = json!({"action": "resolve", "conflict_id": conflict["id"], "resolution": "merge"});
    assert!(refused(&memory, "memory_conflicts", without.clone()).await.message.contains("content"));
    let mut merge = without;
    merge["content"] = json!("Wants to weigh 72 to 75 kg");
    memory.call("memory_conflicts", merge).await.unwrap();
    let active = rows(&memory, "SELECT content FROM facts WHERE validity = 'active'").await;
    assert_eq!(active, [json!({"content": "Wants to weigh 72 to 75 kg"})]);

    let memory = MemoryFixture::new().await;
    let (conflict, ..) = open_conflict(&memory).await;
    resolve(&memory, &conflict, "forget_both").await;
    assert_eq!(count(&memory, "facts WHERE validity = 'active'").await, 0);
}

#[tokio::test]
async fn a_context_marks_both_sides_of_an_open_contradiction_only() {
    let memory = MemoryFixture::new().await;
    let (conflict, ..) = open_conflict(&memory).await;
    let context = async || {
        let arguments = json!({"trigger_prompt": "How much does Anna want to weigh?", "butler": "health"});
        memory.call("memory_context", arguments).await.unwrap()["context"].as_str().unwrap().to_owned()
    };
    let text = context().await;
    let marked: Vec<&str> = text.lines().filter(|line| line.ends_with(" (conflicting)")).collect();
    assert_eq!(marked.len(), 2, "{text}");
    resolve(&memory, &conflict, "keep_both").await;
    assert!(!context().await.contains("conflicting"));
}

#[tokio::test]
async fn the_job_finds_what_storing_did_not_look_for() {
    let mut config = MemoryConfig::default();
    config.conflicts.enabled = false;
    let memory = MemoryFixture::with_config(config).await;
    in_scope(&memory, "global", "Wants to weigh 72 kg").await;
    in_scope(&memory, "health", "Wants to weigh 75 kg").await;
    assert_eq!(conflicts(&memory).await, [] as [Value; 0]);
    let MemoryFixture { db, .. } = memory;
    let memory = MemoryFixture::on(db, MemoryConfig::default());
    let report = memory.memory.run_job("conflicts", &JobRequest::default()).await.unwrap();
    assert_eq!((&report["facts_compared"], &report["conflicts_found"]), (&json!(2), &json!(1)));
    let open = conflicts(&memory).await;
    assert_eq!((open.len(), &open[0]["found_by"]), (1, &json!("job")));
}

#[tokio::test]
async fn another_tenant_sees_and_resolves_nothing() {
    let memory = MemoryFixture::new().await;
    let (conflict, ..) = open_conflict(&memory).await;
    let other = json!({"tenant_id": "other"});
    let seen = memory.call("memory_conflicts", json!({"action": "list", "request_context": other})).await.unwrap();
    assert_eq!(seen["conflicts"], json!([]));
    let arguments =
        json!({"action": "resolve", "conflict_id": conflict["id"], "resolution": "keep_a", "request_context": other});
    let unknown = json!({"action": "reopen", "conflict_id": uuid::Uuid::nil()});
    for arguments in [arguments, unknown] {
        let error = refused(&memory, "memory_conflicts", arguments).await;
        assert_eq!(error.code.as_str(), "not_found", "{}", error.message);
    }
}
