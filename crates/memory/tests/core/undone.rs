//! Undo is not forgetting: a memory that an undo retracts leaves no tombstone.

use butler_domain::FactId;
use butler_memory::FactChanges;
use butler_memory::browse::Page;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{fact, refused, row, store_fact};

fn city(content: &str) -> Value {
    json!({"subject": "Eve", "predicate": "city", "content": content})
}

async fn tombstones(memory: &MemoryFixture) -> Vec<String> {
    let listed = memory.memory.tombstones(&memory.as_test(), false, Page::first(10)).await.unwrap().rows;
    listed.into_iter().filter_map(|one| one.text).collect()
}

#[tokio::test]
async fn an_undone_edit_leaves_no_tombstone_and_forgetting_still_does() {
    let memory = MemoryFixture::new().await;
    let call = memory.as_test();
    let bergen = FactId(fact(&memory, "Eve", "city", "lives in Bergen").await.as_str().unwrap().parse().unwrap());
    let changes = FactChanges { importance: Some(9.0), ..FactChanges::default() };
    memory.memory.edit_fact(&call, bergen, &changes).await.unwrap().unwrap();
    memory.clock.advance_days(1.0);
    memory.memory.restore_fact(&call, bergen).await.unwrap().unwrap();
    assert_eq!(tombstones(&memory).await, [] as [&str; 0]);
    // said again in other words, changed, and said again
    for said in ["lives in the city of Bergen", "lives in Rome", "lives in Bergen"] {
        memory.clock.advance_days(1.0);
        store_fact(&memory, city(said)).await;
    }
    let known = store_fact(&memory, city("lives in Bergen")).await["id"].clone();
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": known})).await.unwrap();
    assert_eq!(tombstones(&memory).await, ["Eve city: lives in Bergen"]);
    assert_eq!(refused(&memory, "memory_store_fact", city("lives in Bergen")).await.code.as_str(), "invalid_state");
}

#[tokio::test]
async fn what_an_undo_retracted_can_still_be_forgotten() {
    let memory = MemoryFixture::new().await;
    let call = memory.as_test();
    let oslo = FactId(fact(&memory, "Eve", "city", "lives in Oslo").await.as_str().unwrap().parse().unwrap());
    memory.clock.advance_days(1.0);
    let bergen = store_fact(&memory, city("lives in Bergen")).await["id"].clone();
    memory.clock.advance_days(1.0);
    memory.memory.restore_fact(&call, oslo).await.unwrap().unwrap();
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": bergen})).await.unwrap();
    assert_eq!(tombstones(&memory).await, ["Eve city: lives in Bergen"]);
    assert_eq!(refused(&memory, "memory_store_fact", city("lives in Bergen")).await.code.as_str(), "invalid_state");
}

#[tokio::test]
async fn a_reopened_conflict_leaves_no_tombstone() {
    for resolution in [
        json!({"resolution": "keep_both", "scope": "travel"}),
        json!({"resolution": "merge", "content": "Oslo or Bergen"}),
    ] {
        let memory = MemoryFixture::new().await;
        let mut at_work = city("Oslo");
        at_work["scope"] = json!("work");
        let oslo = store_fact(&memory, at_work).await["id"].clone();
        let bergen = fact(&memory, "Eve", "city", "Bergen").await;
        let open = memory.call("memory_conflicts", json!({"action": "list"})).await.unwrap();
        let id = &open["conflicts"][0]["id"];
        let mut arguments = json!({"action": "resolve", "conflict_id": id});
        arguments.as_object_mut().unwrap().extend(resolution.as_object().unwrap().clone());
        memory.call("memory_conflicts", arguments).await.unwrap();
        memory.clock.advance_days(1.0);
        memory.call("memory_conflicts", json!({"action": "reopen", "conflict_id": id})).await.unwrap();
        for side in [&oslo, &bergen] {
            assert_eq!(row(&memory, "facts", side).await["validity"], "active");
        }
        assert_eq!(tombstones(&memory).await, [] as [&str; 0], "{resolution}");
        for said in ["Rome", "Bergen", "Oslo or Bergen"] {
            memory.clock.advance_days(1.0);
            store_fact(&memory, city(said)).await;
        }
    }
}
