//! When facts are true: the table of cases of docs/time.md, case by case.

mod plans;

use butler_domain::{FactId, Timestamp};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{count, events_of, row, rows};

/// A memory whose clock shows `now`.
pub(crate) async fn at(now: &str) -> MemoryFixture {
    let memory = MemoryFixture::new().await;
    go_to(&memory, now);
    memory
}

pub(crate) fn go_to(memory: &MemoryFixture, now: &str) {
    memory.clock.set(time(now));
}

fn time(text: &str) -> Timestamp {
    let full = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    full.parse().unwrap()
}

/// Stores where Anna lives, with further arguments.
pub(crate) async fn lives(memory: &MemoryFixture, city: &str, more: Value) -> Value {
    let mut fact = json!({"subject": "Anna", "predicate": "lives_in", "content": city});
    fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    memory.call("memory_store_fact", fact).await.unwrap()
}

/// The facts of the key in the order of time: content, from, to, and validity.
pub(crate) async fn timeline(memory: &MemoryFixture) -> Vec<String> {
    let sql = "SELECT content || ' ' || day(holds_from) || '..' || day(holds_to) || ' ' || validity AS line
               FROM facts, LATERAL (SELECT holds_from < holds_to AS holds) h
               ORDER BY holds DESC, holds_from, created_at";
    let sql = sql
        .replace("day(holds_from)", "CASE WHEN NOT holds THEN 'never' WHEN isfinite(holds_from) THEN to_char(holds_from AT TIME ZONE 'UTC', 'YYYY-MM-DD') ELSE '' END")
        .replace("day(holds_to)", "CASE WHEN holds AND isfinite(holds_to) THEN to_char(holds_to AT TIME ZONE 'UTC', 'YYYY-MM-DD') ELSE '' END");
    rows(memory, &sql).await.iter().map(|row| row["line"].as_str().unwrap().to_owned()).collect()
}

/// Which fact supersedes which, by their contents, sorted.
pub(crate) async fn supersessions(memory: &MemoryFixture) -> Vec<String> {
    let sql = "SELECT n.content || ' supersedes ' || o.content AS line
               FROM memory_links l JOIN facts n ON n.id = l.source_id JOIN facts o ON o.id = l.target_id
               WHERE l.relation = 'supersedes' ORDER BY 1";
    rows(memory, sql).await.iter().map(|row| row["line"].as_str().unwrap().to_owned()).collect()
}

/// The contents that a call finds, sorted.
pub(crate) async fn found(memory: &MemoryFixture, tool: &str, time_filter: Value) -> Vec<String> {
    let text = if tool == "memory_recall" { "topic" } else { "query" };
    let mut arguments = json!({text: "Anna lives_in", "min_confidence": 0, "limit": 20});
    arguments.as_object_mut().unwrap().extend(time_filter.as_object().unwrap().clone());
    let answer = memory.call(tool, arguments).await.unwrap();
    let mut contents: Vec<String> =
        answer["results"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect();
    contents.sort();
    contents
}

#[tokio::test]
async fn without_dates_the_first_has_always_been_true_and_the_next_is_a_change() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2036-03-01");
    lives(&memory, "Rome", json!({})).await;
    assert_eq!(timeline(&memory).await, ["Oslo ..2036-03-01 superseded", "Rome 2036-03-01.. active"]);
}

#[tokio::test]
async fn a_later_start_closes_what_was_true_before() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    let rome = lives(&memory, "Rome", json!({"valid_from": "2033-05"})).await;
    assert!(rome["superseded_id"].is_string());
    assert_eq!(timeline(&memory).await, ["Oslo 2030-01-01..2033-05-01 superseded", "Rome 2033-05-01.. active"]);
}

#[tokio::test]
async fn a_start_closes_an_undated_value_even_if_it_lies_before_that_was_said() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2036-03-01");
    lives(&memory, "Rome", json!({"valid_from": "2030"})).await;
    assert_eq!(timeline(&memory).await, ["Oslo ..2030-01-01 superseded", "Rome 2030-01-01.. active"]);
}

#[tokio::test]
async fn what_ended_before_now_is_history_and_replaces_nothing() {
    let memory = at("2036-01-01").await;
    let rome = lives(&memory, "Rome", json!({"valid_from": "2033"})).await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2018", "valid_to": "2030"})).await;
    assert_eq!(oslo["superseded_id"], Value::Null);
    assert_eq!(timeline(&memory).await, ["Oslo 2018-01-01..2030-01-01 active", "Rome 2033-01-01.. active"]);
    assert_eq!(row(&memory, "facts", &rome["id"]).await["slot"], "");
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Rome"], "recall tells what is true now");
    assert_eq!(found(&memory, "memory_search", json!({})).await, ["Oslo", "Rome"], "a search finds both");
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2019"})).await, ["Oslo"]);
}

#[tokio::test]
async fn what_ended_before_now_is_history_also_after_an_undated_value() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Rome", json!({})).await;
    lives(&memory, "Oslo", json!({"valid_from": "2018", "valid_to": "2030"})).await;
    lives(&memory, "Bern", json!({"valid_to": "2018"})).await;
    assert_eq!(
        timeline(&memory).await,
        ["Bern ..2018-01-01 active", "Oslo 2018-01-01..2030-01-01 active", "Rome 2030-01-01.. active"]
    );
}

#[tokio::test]
async fn an_earlier_start_without_an_end_is_history_until_the_next_start() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Rome", json!({"valid_from": "2033"})).await;
    lives(&memory, "Oslo", json!({"valid_from": "2018"})).await;
    assert_eq!(timeline(&memory).await, ["Oslo 2018-01-01..2033-01-01 active", "Rome 2033-01-01.. active"]);
}

#[tokio::test]
async fn of_two_overlapping_periods_of_the_past_the_one_said_later_counts() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2010", "valid_to": "2014"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2012", "valid_to": "2016"})).await;
    assert_eq!(timeline(&memory).await, ["Rome 2012-01-01..2016-01-01 active", "Oslo never.. superseded"]);
    lives(&memory, "Bern", json!({"valid_from": "2011", "valid_to": "2013", "observed_at": "2030"})).await;
    let lines = timeline(&memory).await;
    assert_eq!(lines[0], "Rome 2012-01-01..2016-01-01 active", "Bern was said earlier");
    assert!(lines.iter().any(|line| line.starts_with("Bern never")), "{lines:?}");
}

#[tokio::test]
async fn a_period_within_a_longer_one_leaves_that_as_it_is() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Rome", json!({"valid_from": "2030"})).await;
    lives(&memory, "Oslo", json!({"valid_from": "2031", "valid_to": "2032"})).await;
    assert_eq!(timeline(&memory).await, ["Rome 2030-01-01.. active", "Oslo 2031-01-01..2032-01-01 active"]);
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2033"})).await, ["Rome"]);
}

#[tokio::test]
async fn equal_starts_the_one_said_later_counts() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2030"})).await;
    assert_eq!(timeline(&memory).await, ["Rome 2030-01-01.. active", "Oslo never.. superseded"]);
}

#[tokio::test]
async fn what_was_said_earlier_does_not_replace_what_was_said_later() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Rome", json!({})).await;
    lives(&memory, "Oslo", json!({"observed_at": "2034-05-01"})).await;
    assert_eq!(timeline(&memory).await, ["Oslo ..2036-01-01 active", "Rome 2036-01-01.. active"]);
}

#[tokio::test]
async fn a_fact_that_ends_leaves_recall_without_being_forgotten() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_to": "2036-03-01", "permanence": "ephemeral"})).await;
    go_to(&memory, "2036-03-02");
    assert_eq!(found(&memory, "memory_recall", json!({})).await, [""; 0]);
    go_to(&memory, "2039-01-01");
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(row(&memory, "facts", &oslo["id"]).await["validity"], "active", "it does not decay");
    assert_eq!(found(&memory, "memory_search", json!({})).await, ["Oslo"]);
}

#[tokio::test]
async fn the_same_again_with_an_end_ends_it() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    let ended = lives(&memory, "Oslo", json!({"valid_to": "2035-07-01"})).await;
    assert_eq!(ended.get("confirmed"), None);
    assert_eq!(timeline(&memory).await, ["Oslo 2030-01-01..2035-07-01 active", "Oslo never.. superseded"]);
}

#[tokio::test]
async fn the_same_again_without_news_confirms() {
    let memory = at("2036-01-01").await;
    let first = lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    for same in [json!({}), json!({"valid_from": "2030"}), json!({"observed_at": "2035"})] {
        let again = lives(&memory, "Oslo", same.clone()).await;
        assert_eq!((&again["id"], &again["confirmed"]), (&first["id"], &json!(true)), "{same}");
    }
    lives(&memory, "Rome", json!({})).await;
    let back = lives(&memory, "Oslo", json!({})).await;
    assert_ne!(back["id"], first["id"], "she moved back");
}

#[tokio::test]
async fn a_forgotten_value_was_never_true_but_its_predecessor_stays_superseded() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2036-02-01");
    let rome = lives(&memory, "Rome", json!({})).await;
    go_to(&memory, "2036-03-01");
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": rome["id"]})).await.unwrap();
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2036-02-15"})).await, [""; 0]);
    assert_eq!(found(&memory, "memory_recall", json!({"as_of": "2036-02-15"})).await, ["Rome"], "it was believed then");
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2035"})).await, ["Oslo"]);
}

#[tokio::test]
async fn undoing_a_change_lets_the_old_value_hold_again() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2036-02-01");
    lives(&memory, "Rome", json!({})).await;
    go_to(&memory, "2036-03-01");
    let id = butler_domain::FactId(oslo["id"].as_str().unwrap().parse().unwrap());
    memory.memory.restore_fact(&memory.as_test(), id).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Oslo .. active", "Rome never.. retracted"]);
    assert_eq!(found(&memory, "memory_recall", json!({"as_of": "2036-02-15"})).await, ["Rome"]);
    assert_eq!(found(&memory, "memory_recall", json!({"as_of": "2036-01-15"})).await, ["Oslo"]);
    assert_eq!(found(&memory, "memory_recall", json!({})).await, ["Oslo"]);
}

#[tokio::test]
async fn values_of_a_temporal_predicate_stay_side_by_side() {
    let memory = at("2036-01-01").await;
    let weighs = |kilos: &str, more: Value| {
        let mut fact = json!({"subject": "Anna", "predicate": "weight", "content": kilos});
        fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        memory.call("memory_store_fact", fact)
    };
    weighs("70 kg", json!({"valid_from": "2035-12-01"})).await.unwrap();
    weighs("68 kg", json!({"valid_from": "2035-12-20"})).await.unwrap();
    let late = weighs("69 kg", json!({"valid_from": "2035-12-10"})).await.unwrap();
    assert_eq!(late["superseded_id"], Value::Null);
    assert_eq!(
        timeline(&memory).await,
        ["70 kg 2035-12-01..2035-12-10 active", "69 kg 2035-12-10..2035-12-20 active", "68 kg 2035-12-20.. active"]
    );
    let topic = |more: Value| {
        let mut arguments = json!({"topic": "Anna weight", "min_confidence": 0});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        memory.call("memory_recall", arguments)
    };
    let now = topic(json!({})).await.unwrap();
    assert_eq!(now["results"].as_array().unwrap().len(), 1);
    assert_eq!(now["results"][0]["content"], "68 kg", "the latest is what now means");
    assert_eq!(topic(json!({"valid_at": "2035-12-15"})).await.unwrap()["results"][0]["content"], "69 kg");
    let same = weighs("70 kg", json!({"valid_from": "2035-12-20"})).await.unwrap();
    assert!(same["superseded_id"].is_string(), "one value per moment");
}

#[tokio::test]
async fn undoing_a_move_brings_back_what_the_moved_fact_superseded() {
    let memory = at("2036-01-01").await;
    let everywhere = lives(&memory, "Oslo", json!({})).await;
    go_to(&memory, "2036-02-01");
    let at_work = lives(&memory, "Rome", json!({"scope": "work"})).await;
    let id = |fact: &Value| butler_domain::FactId(fact["id"].as_str().unwrap().parse().unwrap());
    go_to(&memory, "2036-03-01");
    let scope = Some(butler_domain::Scope::new("global").unwrap());
    let changes = butler_memory::FactChanges { scope, ..Default::default() };
    let moved = memory.memory.edit_fact(&memory.as_test(), id(&at_work), &changes).await.unwrap().unwrap();
    assert_eq!(row(&memory, "facts", &everywhere["id"]).await["validity"], "superseded");

    go_to(&memory, "2036-04-01");
    memory.memory.restore_fact(&memory.as_test(), id(&at_work)).await.unwrap().unwrap();
    assert_eq!(row(&memory, "facts", &everywhere["id"]).await["validity"], "active");
    assert_eq!(row(&memory, "facts", &at_work["id"]).await["validity"], "active");
    assert_eq!(row(&memory, "facts", &json!(moved.id.0)).await["validity"], "retracted");
}

#[tokio::test]
async fn an_edit_corrects_and_keeps_the_dates_it_does_not_change() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    go_to(&memory, "2036-02-01");
    let id = butler_domain::FactId(oslo["id"].as_str().unwrap().parse().unwrap());
    let changes = butler_memory::FactChanges { content: Some("Bergen".to_owned()), ..Default::default() };
    let edited = memory.memory.edit_fact(&memory.as_test(), id, &changes).await.unwrap().unwrap();
    assert_eq!(timeline(&memory).await, ["Bergen 2030-01-01.. active", "Oslo never.. superseded"]);
    let dates = memory
        .memory
        .stated(
            memory.as_test().now,
            butler_memory::times::DateTexts { valid_from: Some("2031-06"), ..Default::default() },
        )
        .unwrap();
    let changes = butler_memory::FactChanges { dates, ..Default::default() };
    memory.memory.edit_fact(&memory.as_test(), edited.id, &changes).await.unwrap().unwrap();
    assert_eq!(timeline(&memory).await[0], "Bergen 2031-06-01.. active");
    assert_eq!(found(&memory, "memory_recall", json!({"as_of": "2036-01-15"})).await, ["Oslo"]);
}

#[tokio::test]
async fn each_value_of_a_predicate_of_several_has_its_own_time() {
    let memory = at("2036-01-01").await;
    let likes = |what: &str, more: Value| {
        let mut fact = json!({"subject": "Anna", "predicate": "likes", "content": what});
        fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        memory.call("memory_store_fact", fact)
    };
    likes("tea", json!({"valid_from": "2010", "valid_to": "2015"})).await.unwrap();
    likes("coffee", json!({"valid_from": "2012"})).await.unwrap();
    let again = likes("tea", json!({"valid_from": "2034"})).await.unwrap();
    assert_eq!(again.get("confirmed"), None);
    assert_eq!(
        timeline(&memory).await,
        ["tea 2010-01-01..2015-01-01 active", "coffee 2012-01-01.. active", "tea 2034-01-01.. active"]
    );
}

#[tokio::test]
async fn a_redated_neighbour_leaves_an_event() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2018"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2037"})).await;
    assert_eq!(events_of(&memory, &oslo["id"]).await, ["fact_created", "fact_redated"]);
}

#[tokio::test]
async fn the_same_again_with_an_earlier_start_is_one_period() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    lives(&memory, "Oslo", json!({"valid_from": "2028"})).await;
    assert_eq!(timeline(&memory).await, ["Oslo 2028-01-01.. active", "Oslo never.. superseded"]);
}

#[tokio::test]
async fn three_values_of_one_moment_without_dates_are_all_kept() {
    let memory = at("2036-01-01").await;
    for meal in ["soup", "bread", "fish"] {
        let fact =
            json!({"subject": "Anna", "predicate": "meal", "content": meal, "observed_at": "2035-12-24T18:00:00Z"});
        memory.call("memory_store_fact", fact).await.unwrap();
    }
    assert_eq!(count(&memory, "facts WHERE validity = 'active' AND holds_from < holds_to").await, 3);
}

#[tokio::test]
async fn a_forgotten_fact_that_covers_a_new_one_is_no_error() {
    let memory = at("2036-01-01").await;
    let rome = lives(&memory, "Rome", json!({"valid_from": "2010"})).await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": rome["id"]})).await.unwrap();
    let bern = lives(&memory, "Bern", json!({"valid_from": "2010", "observed_at": "2020"})).await;
    assert_eq!(timeline(&memory).await, ["Rome 2010-01-01.. retracted", "Bern never.. superseded"]);
    assert_eq!(found(&memory, "memory_search", json!({"valid_at": "2010"})).await, [""; 0]);
    assert_eq!(supersessions(&memory).await, ["Rome supersedes Bern"]);
    let id = FactId(bern["id"].as_str().unwrap().parse().unwrap());
    memory.memory.restore_fact(&memory.as_test(), id).await.unwrap().unwrap();
    assert_eq!(row(&memory, "facts", &bern["id"]).await["validity"], "active");
}

#[tokio::test]
async fn a_merge_places_the_facts_of_both_together_and_its_undo_apart_again() {
    let memory = at("2036-01-01").await;
    let mut ids = Vec::new();
    for name in ["Anna", "Anne"] {
        let arguments = json!({"canonical_name": name, "entity_type": "person"});
        ids.push(memory.call("entity_create", arguments).await.unwrap()["entity_id"].clone());
    }
    let fact = |who: &Value, city: &str, from: &str| json!({"subject": "A", "predicate": "lives_in", "content": city, "entity_id": who, "valid_from": from});
    memory.call("memory_store_fact", fact(&ids[0], "Bern", "2030")).await.unwrap();
    memory.call("memory_store_fact", fact(&ids[1], "Rome", "2037")).await.unwrap();
    let merged = json!({"source_entity_id": ids[1], "target_entity_id": ids[0]});
    memory.call("entity_merge", merged).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Bern 2030-01-01..2037-01-01 active", "Rome 2037-01-01.. active"]);
    memory.call("entity_unmerge", json!({"entity_id": ids[1]})).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Bern 2030-01-01.. active", "Rome 2037-01-01.. active"]);
}

#[tokio::test]
async fn a_merge_lets_a_later_period_of_the_past_supersede_an_earlier_one_and_its_undo_brings_that_back() {
    let memory = at("2036-01-01").await;
    let mut ids = Vec::new();
    for name in ["Anna", "Anne"] {
        let arguments = json!({"canonical_name": name, "entity_type": "person"});
        ids.push(memory.call("entity_create", arguments).await.unwrap()["entity_id"].clone());
    }
    let fact = |who: &Value, city: &str, from: &str, to: &str| json!({"subject": "A", "predicate": "lives_in", "content": city, "entity_id": who, "valid_from": from, "valid_to": to});
    memory.call("memory_store_fact", fact(&ids[0], "Bern", "2010", "2014")).await.unwrap();
    // Of two statements of the same moment, either may win.
    go_to(&memory, "2036-01-01T01:00:00Z");
    memory.call("memory_store_fact", fact(&ids[1], "Rome", "2012", "2016")).await.unwrap();
    go_to(&memory, "2036-01-02");
    let merged = json!({"source_entity_id": ids[1], "target_entity_id": ids[0]});
    memory.call("entity_merge", merged).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Rome 2012-01-01..2016-01-01 active", "Bern never.. superseded"]);
    assert_eq!(supersessions(&memory).await, ["Rome supersedes Bern"], "although nothing holds now");
    go_to(&memory, "2036-01-03");
    memory.call("entity_unmerge", json!({"entity_id": ids[1]})).await.unwrap();
    assert_eq!(timeline(&memory).await, ["Bern 2010-01-01..2014-01-01 active", "Rome 2012-01-01..2016-01-01 active"]);
    assert_eq!(supersessions(&memory).await, [""; 0]);
}
