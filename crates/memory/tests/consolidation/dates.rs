//! The dates of what consolidation learns.

use butler_domain::{Butler, Timestamp};
use butler_memory::{Call, EpisodeInput};
use serde_json::json;

use crate::world::{Model, World};

const DATES: &str =
    "SELECT concat_ws(' ', content, dates ->> 'valid_from', dates ->> 'valid_to', observed_at AT TIME ZONE 'UTC')
                     FROM facts ORDER BY content";

async fn episode(world: &World, occurred_at: Option<&str>) {
    let input = EpisodeInput {
        butler: Butler::new("general").unwrap(),
        session_id: None,
        content: "Ann told us about her homes.".to_owned(),
        importance: 5.0,
        metadata: serde_json::Map::new(),
        occurred_at: occurred_at.map(|at| at.parse::<Timestamp>().unwrap()),
    };
    let call = Call::internal(&world.memory, butler_domain::TenantId::default(), "test");
    world.memory.store_episode(&call, input).await.unwrap();
}

fn says(facts: serde_json::Value) -> std::sync::Arc<Model> {
    Model::says(json!({ "new_facts": facts }).to_string())
}

#[tokio::test]
async fn the_dates_of_the_answer_are_stored_in_their_precision() {
    let world = World::new(says(json!([
        {"subject": "Ann", "predicate": "lives_in", "content": "Rome", "valid_from": "2029-03", "observed_at": "2029-12-24"},
        {"subject": "Ann", "predicate": "worked_at", "content": "Acme", "valid_from": 2020, "valid_to": "2025-06-30"},
    ])))
    .await;
    episode(&world, None).await;
    let report = world.run().await;
    assert_eq!((report.totals.facts_created, &report.errors), (2, &vec![]));
    assert_eq!(world.rows(DATES).await, ["Acme 2020 2025-06-30", "Rome 2029-03 2029-12-24 00:00:00"]);
}

#[tokio::test]
async fn a_bad_date_is_left_out_and_reported_and_the_fact_is_stored() {
    let world = World::new(says(json!([
        {"subject": "Ann", "predicate": "lives_in", "content": "Rome", "valid_from": "last spring"},
        {"subject": "Bob", "predicate": "lives_in", "content": "Oslo", "valid_from": "2025", "valid_to": "2020"},
    ])))
    .await;
    episode(&world, None).await;
    let report = world.run().await;
    assert_eq!(report.totals.facts_created, 2, "{report:?}");
    assert!(report.errors.iter().any(|error| error.contains("valid_from")), "{:?}", report.errors);
    assert_eq!(world.rows(DATES).await, ["Oslo", "Rome"]);
}

#[tokio::test]
async fn what_was_said_before_it_was_stored_was_observed_then() {
    let world = World::new(says(json!([{"subject": "Ann", "predicate": "lives_in", "content": "Rome"}]))).await;
    episode(&world, Some("2024-06-01T08:00:00Z")).await;
    world.run().await;
    assert_eq!(world.rows(DATES).await, ["Rome 2024-06-01 08:00:00"]);
    let world = World::new(says(json!([{"subject": "Ann", "predicate": "lives_in", "content": "Rome"}]))).await;
    episode(&world, None).await;
    world.run().await;
    assert_eq!(world.rows(DATES).await, ["Rome"], "said now");
}
