//! Links: validation, idempotency, and queries by direction.

use butler_domain::{MemoryType, Relation};
use butler_memory::MemoryError;
use butler_store::links::{Direction, End, LinkOutcome};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{count, episode, fact, rows, rule};

fn end(memory_type: MemoryType, id: &Value) -> End {
    End { memory_type, id: id.as_str().unwrap().parse().unwrap() }
}

#[tokio::test]
async fn link_query_by_direction() {
    let memory = MemoryFixture::new().await;
    let call = memory.as_test();
    let a = end(MemoryType::Fact, &fact(&memory, "u", "a", "1").await);
    let b = end(MemoryType::Rule, &rule(&memory, "Ask first").await);
    let c = end(MemoryType::Episode, &episode(&memory, "It rained").await);
    for (source, target, relation) in [(a, b, Relation::Supports), (c, a, Relation::RelatedTo)] {
        let outcome = memory.memory.create_link(&call, source, target, relation).await.unwrap();
        assert_eq!(outcome, LinkOutcome::Created);
    }
    let relations = async |direction| {
        let links = memory.memory.get_links(&call, a, direction).await.unwrap();
        let mut relations: Vec<Relation> = links.iter().map(|found| found.link.relation).collect();
        relations.sort();
        relations
    };
    assert_eq!(relations(Direction::Outgoing).await, [Relation::Supports]);
    assert_eq!(relations(Direction::Incoming).await, [Relation::RelatedTo]);
    assert_eq!(relations(Direction::default()).await, [Relation::Supports, Relation::RelatedTo], "both is the default");
    let event = rows(
        &memory,
        "SELECT memory_type, memory_id, payload FROM memory_events WHERE event_type = 'link_created' ORDER BY ctid",
    )
    .await;
    assert_eq!(event[0]["payload"]["after"]["relation"], "supports");
    assert_eq!(event[0]["payload"]["after"]["target_id"], b.id.to_string());
    assert_eq!(event[0]["memory_id"], a.id.to_string());
}

#[tokio::test]
async fn idempotent_link_creation() {
    let memory = MemoryFixture::new().await;
    let call = memory.as_test();
    let a = end(MemoryType::Fact, &fact(&memory, "u", "a", "1").await);
    let b = end(MemoryType::Fact, &fact(&memory, "u", "b", "2").await);
    memory.memory.create_link(&call, a, b, Relation::Supports).await.unwrap();
    let again = memory.memory.create_link(&call, a, b, Relation::Contradicts).await.unwrap();
    assert_eq!(again, LinkOutcome::Exists(Relation::Supports), "names the existing relation");
    assert_eq!(count(&memory, "memory_links").await, 1);
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'link_created'").await, 1);
}

#[tokio::test]
async fn memory_link_creation_with_validation() {
    let memory = MemoryFixture::new().await;
    let call = memory.as_test();
    let a = end(MemoryType::Fact, &fact(&memory, "u", "a", "1").await);
    let as_rule = End { memory_type: MemoryType::Rule, ..a };
    let missing = memory.memory.create_link(&call, a, as_rule, Relation::Supports).await.unwrap_err();
    assert!(matches!(missing, MemoryError::NotFound { memory_type: MemoryType::Rule, .. }));
    assert!(memory.memory.create_link(&call, as_rule, a, Relation::Supports).await.is_err());
    assert!(matches!(memory.memory.create_link(&call, a, a, Relation::Supports).await, Err(MemoryError::Invalid(_))));
    assert!("causes".parse::<Relation>().is_err() && "entity".parse::<MemoryType>().is_err(), "closed lists");
    let mut other = memory.as_test();
    other.tenant = butler_domain::TenantId::new("other").unwrap();
    assert!(memory.memory.create_link(&other, a, as_rule, Relation::Supports).await.is_err());
    assert!(memory.memory.get_links(&other, a, Direction::Both).await.unwrap().is_empty());
    assert_eq!(count(&memory, "memory_links").await, 0);
}

#[tokio::test]
async fn a_link_written_with_a_fact_is_named_in_the_facts_event() {
    let memory = MemoryFixture::new().await;
    let source = crate::episode(&memory, "Ann moved").await;
    let old = crate::fact(&memory, "Ann", "city", "Basel").await;
    let arguments = json!({"subject": "Ann", "predicate": "city", "content": "Bern", "source_episode_id": source});
    let new = crate::store_fact(&memory, arguments).await["id"].clone();
    let id = new.as_str().unwrap();
    let events = crate::rows(
        &memory,
        &format!("SELECT event_type, payload -> 'links' AS links FROM memory_events WHERE memory_id = '{id}'"),
    )
    .await;
    let links = json!([
        {"relation": "derived_from", "target_type": "episode", "target_id": source},
        {"relation": "supersedes", "target_type": "fact", "target_id": old},
    ]);
    assert_eq!(events, [json!({"event_type": "fact_created", "links": links})]);
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'link_created'").await, 0);
}
