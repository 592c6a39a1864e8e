//! Entities that a person keeps apart.

use butler_domain::EntityId;
use butler_testkit::MemoryFixture;

use super::{everything, one, person};

const OTHERS: [&str; 6] = ["Ann Avery", "Ann Baker", "Ann Cole", "Ann Dean", "Ann Eliot", "Ann Frost"];

async fn entity(memory: &MemoryFixture, name: &str) -> EntityId {
    EntityId(person(memory, name, &[]).await.parse().expect("an id"))
}

/// The entities that a profile lists as likely duplicates.
async fn listed(memory: &MemoryFixture, id: EntityId) -> Vec<String> {
    let call = memory.as_test();
    let view = memory.memory.get_entity(&call, id).await.expect("an answer").expect("an entity");
    let duplicates = memory.memory.likely_duplicates(&call, &view).await.expect("an answer");
    duplicates.into_iter().map(|duplicate| duplicate.canonical_name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_decisions_to_keep_entities_apart_are_all_kept() {
    let memory = MemoryFixture::new().await;
    let ann = entity(&memory, "Ann").await;
    let mut others = Vec::new();
    for name in OTHERS {
        others.push(entity(&memory, name).await);
    }
    assert_eq!(listed(&memory, ann).await, OTHERS[..5], "at most five");
    let call = memory.as_test();
    let first_five = others[..5].iter().map(|other| memory.memory.keep_apart(&call, ann, *other, true));
    for kept in futures::future::join_all(first_five).await {
        kept.expect("an entity");
    }
    assert_eq!(listed(&memory, ann).await, OTHERS[5..], "those kept apart take no place in the list");
}

#[tokio::test]
async fn keeping_apart_is_undone_from_either_side() {
    let memory = MemoryFixture::new().await;
    let (ann, other) = (entity(&memory, "Ann").await, entity(&memory, "Ann Avery").await);
    let call = memory.as_test();
    for (kept_by, undone_by) in [((ann, other), (other, ann)), ((ann, other), (ann, other))] {
        memory.memory.keep_apart(&call, kept_by.0, kept_by.1, true).await.unwrap();
        assert_eq!(listed(&memory, ann).await, [""; 0]);
        memory.memory.keep_apart(&call, undone_by.0, undone_by.1, false).await.unwrap();
        assert_eq!(listed(&memory, ann).await, ["Ann Avery"]);
    }
}

#[tokio::test]
async fn a_decision_that_changes_nothing_leaves_no_event() {
    let memory = MemoryFixture::new().await;
    let (ann, other) = (entity(&memory, "Ann").await, entity(&memory, "Ann Avery").await);
    let call = memory.as_test();
    for apart in [false, true, false] {
        memory.memory.keep_apart(&call, ann, other, apart).await.unwrap();
        let before = everything(&memory).await;
        memory.clock.advance_days(1.0);
        memory.memory.keep_apart(&memory.as_test(), ann, other, apart).await.unwrap();
        assert_eq!(everything(&memory).await, before);
    }
    let events = "SELECT count(*) AS n FROM memory_events WHERE event_type = 'entity_updated'";
    assert_eq!(one(&memory, events).await["n"], 2, "kept apart, and no longer");
}
