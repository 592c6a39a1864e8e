//! Facts that start in the future: plans, and the stays that end by themselves.

use serde_json::{Value, json};

use super::{at, found, go_to, lives, supersessions, timeline};
use crate::{count, row};

#[tokio::test]
async fn a_plan_is_found_but_true_only_when_its_time_comes() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    let plan = lives(&memory, "Rome", json!({"valid_from": "2036-03-01"})).await;
    assert_eq!(plan["superseded_id"], Value::Null);
    assert_eq!(timeline(&memory).await, ["Oslo ..2036-03-01 active", "Rome 2036-03-01.. active"]);
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Oslo"]);
    assert_eq!(found(&memory, "memory_search", json!({})).await, ["Oslo", "Rome"]);
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2036-04"})).await, ["Rome"]);
    go_to(&memory, "2036-03-02");
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Rome"], "nothing had to run for it");
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Oslo ..2036-03-01 superseded", "Rome 2036-03-01.. active"]);
    assert_eq!(row(&memory, "facts", &plan["id"]).await["slot"], "");
}

#[tokio::test]
async fn a_change_before_a_plan_lasts_until_the_plan() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    lives(&memory, "Rome", json!({"valid_from": "2036-06-01"})).await;
    go_to(&memory, "2036-02-01");
    lives(&memory, "Bern", json!({})).await;
    assert_eq!(
        timeline(&memory).await,
        ["Oslo ..2036-02-01 superseded", "Bern 2036-02-01..2036-06-01 active", "Rome 2036-06-01.. active"]
    );
    go_to(&memory, "2036-07-01");
    lives(&memory, "Paris", json!({})).await;
    assert_eq!(
        timeline(&memory).await[1..],
        [
            "Bern 2036-02-01..2036-06-01 superseded",
            "Rome 2036-06-01..2036-07-01 superseded",
            "Paris 2036-07-01.. active"
        ]
    );
}

#[tokio::test]
async fn a_stay_in_the_future_ends_and_the_present_goes_on() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2036-06", "valid_to": "2036-09"})).await;
    go_to(&memory, "2036-10-01");
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Oslo"]);
}

#[tokio::test]
async fn a_plan_that_is_forgotten_before_its_time_ends_nothing() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    let plan = lives(&memory, "Rome", json!({"valid_from": "2036-03-01"})).await;
    go_to(&memory, "2036-02-01");
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": plan["id"]})).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Oslo .. active", "Rome 2036-03-01.. retracted"]);
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2036-04", "as_of": "2036-01-15"})).await, ["Rome"]);
}

#[tokio::test]
async fn a_plan_that_is_believed_again_can_be_superseded_again() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2037"})).await;
    let other = lives(&memory, "Rome", json!({"valid_from": "2037"})).await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": other["id"]})).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Oslo 2037-01-01.. active", "Rome 2037-01-01.. retracted"]);
    go_to(&memory, "2036-01-02");
    lives(&memory, "Bern", json!({"valid_from": "2037"})).await;
    assert_eq!(
        timeline(&memory).await,
        ["Rome 2037-01-01.. retracted", "Bern 2037-01-01.. active", "Oslo never.. superseded"]
    );
    assert_eq!(
        supersessions(&memory).await,
        ["Bern supersedes Oslo", "Rome supersedes Oslo"],
        "the forgotten plan stays in the history"
    );
}

#[tokio::test]
async fn a_fact_stored_under_a_clock_ahead_supersedes_only_when_its_time_comes() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2037-06-01");
    let rome = lives(&memory, "Rome", json!({})).await;
    let superseding = "memory_links WHERE relation = 'supersedes'";
    assert_eq!(count(&memory, superseding).await, 1);
    go_to(&memory, "2036-01-02");
    let plan = lives(&memory, "Bonn", json!({"valid_from": "2036-02-01"})).await;
    assert_eq!(
        timeline(&memory).await,
        ["Oslo ..2036-02-01 active", "Bonn 2036-02-01..2037-06-01 active", "Rome 2037-06-01.. active"]
    );
    assert_eq!(count(&memory, superseding).await, 0);
    assert_eq!(row(&memory, "facts", &rome["id"]).await["supersedes_id"], Value::Null);

    go_to(&memory, "2036-03-01");
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(row(&memory, "facts", &plan["id"]).await["supersedes_id"], oslo["id"]);
    assert_eq!(row(&memory, "facts", &oslo["id"]).await["validity"], "superseded");
}

#[tokio::test]
async fn a_plan_that_is_put_off_leaves_no_gap() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    lives(&memory, "Rome", json!({"valid_from": "2037"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2038"})).await;
    assert_eq!(
        timeline(&memory).await,
        ["Oslo ..2038-01-01 active", "Rome 2038-01-01.. active", "Rome never.. superseded"]
    );
}

#[tokio::test]
async fn a_stay_that_is_told_while_it_lasts_ends_without_a_job() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    go_to(&memory, "2036-07-01");
    lives(&memory, "Rome", json!({"valid_from": "2036-06", "valid_to": "2036-09"})).await;
    go_to(&memory, "2036-10-01");
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Oslo"]);
}
