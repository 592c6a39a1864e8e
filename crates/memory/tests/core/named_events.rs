//! Times that a query names by an event: "before the move" is a time if a fact says when the move was.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::time::{at, lives};

async fn moved(memory: &MemoryFixture, who: &str, content: &str, when: &str, scope: &str) {
    let fact = json!({"subject": who, "predicate": "moved", "content": content, "valid_from": when, "scope": scope});
    memory.call("memory_store_fact", fact).await.unwrap();
}

/// The contents of the facts about homes, best first, and what was understood.
async fn recall_homes(memory: &MemoryFixture, topic: &str, more: Value) -> (Vec<String>, Value) {
    let mut arguments = json!({"topic": topic, "min_confidence": 0, "limit": 20, "explain": true});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = memory.call("memory_recall", arguments).await.unwrap();
    let hits = answer["results"].as_array().unwrap().iter();
    let homes = hits.filter(|hit| hit["predicate"] == "lives_in");
    let contents = homes.map(|hit| hit["content"].as_str().unwrap().to_owned()).collect();
    (contents, answer["trace"]["time"].clone())
}

#[tokio::test]
async fn an_event_that_one_dated_fact_tells_is_a_time() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2015"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2033-05"})).await;
    moved(&memory, "Anna", "moved to Rome with the dog", "2033-05", "global").await;
    let (homes, time) = recall_homes(&memory, "where did Anna lives_in before the move?", json!({})).await;
    assert_eq!((homes[0].as_str(), &time["ignored"]), ("Oslo", &json!([])), "{time}");
    let expected = json!({"from": null, "to": "2033-05-01T00:00:00Z", "phrase": "before the move"});
    assert_eq!(time["window"], expected);
    let (homes, time) = recall_homes(&memory, "where did Anna lives_in since the move?", json!({})).await;
    assert_eq!((homes[0].as_str(), &time["window"]["from"]), ("Rome", &json!("2033-05-01T00:00:00Z")));
    let (_, time) = recall_homes(&memory, "what did Anna eat when she moved to Rome", json!({})).await;
    assert_eq!(time["window"]["to"], "2033-06-01T00:00:00Z", "the whole month, as precise as the date: {time}");
    // An argument wins.
    let (_, time) = recall_homes(&memory, "Anna lives_in before the move", json!({"valid_at": "2034"})).await;
    assert_eq!(time["window"], Value::Null);
}

#[tokio::test]
async fn an_event_of_several_dates_is_ignored_unless_the_query_says_whose() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2015"})).await;
    moved(&memory, "Anna", "moved to Rome", "2033-05", "global").await;
    moved(&memory, "Bert", "moved to Bern", "2020-01", "global").await;
    let (_, time) = recall_homes(&memory, "who had a home before the move?", json!({})).await;
    assert_eq!(time["window"], Value::Null);
    assert_eq!(time["ignored"][0]["phrase"], "before the move");
    assert!(time["ignored"][0]["reason"].as_str().unwrap().contains("several facts"), "{time}");
    for (topic, to) in [
        ("where was Anna before the move?", "2033-05-01T00:00:00Z"),
        ("where was he before the move to Bern?", "2020-01-01T00:00:00Z"),
    ] {
        let (_, time) = recall_homes(&memory, topic, json!({})).await;
        assert_eq!(time["window"]["to"], to, "{topic}: {time}");
    }
    let (_, time) = recall_homes(&memory, "where was Anna before the wedding?", json!({})).await;
    assert_eq!(time["ignored"][0]["reason"], "no fact tells when that was");
}

#[tokio::test]
async fn only_facts_of_the_scope_that_were_not_corrected_tell_a_date() {
    let memory = at("2036-01-01").await;
    moved(&memory, "Anna", "Umzug nach Rom", "2033-05", "health").await;
    let window = async |scope: &str| {
        recall_homes(&memory, "Wo wohnte Anna vor dem Umzug?", json!({"scope": scope})).await.1["window"]["to"].clone()
    };
    assert_eq!(window("health").await, "2033-05-01T00:00:00Z");
    assert_eq!(window("finance").await, Value::Null);
    let found = memory.call("memory_search", json!({"query": "Umzug", "scope": "health"})).await.unwrap();
    let id = &found["results"][0]["id"];
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    assert_eq!(window("health").await, Value::Null);
}
