//! Asking about a time: what was true, what was believed, what changed.

use serde_json::{Value, json};

use crate::time::{at, found, go_to, lives};
use crate::{count, get, refused};

/// The names and contents of a section of memory_changes.
fn told(changes: &Value, section: &str) -> Vec<String> {
    let groups = changes[section].as_array().unwrap().iter();
    let items = groups.flat_map(|group| {
        let name = group["name"].as_str().unwrap_or("");
        group["changes"].as_array().unwrap().iter().map(move |item| {
            let (content, before) = (item["content"].as_str().unwrap_or("-"), item["before"].as_str().unwrap_or("-"));
            format!("{name}|{content}|{before}")
        })
    });
    items.collect()
}

#[tokio::test]
async fn belief_and_truth_combine() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    go_to(&memory, "2036-05-01");
    lives(&memory, "Rome", json!({"valid_from": "2035-03-01"})).await;
    let ask = |valid_at: &str, as_of: &str| json!({"valid_at": valid_at, "as_of": as_of});
    assert_eq!(found(&memory, "memory_recall", json!({"valid_at": "2035-06"})).await, ["Rome"]);
    assert_eq!(found(&memory, "memory_recall", ask("2035-06", "2036-02")).await, ["Oslo"], "nobody knew of Rome");
    assert_eq!(found(&memory, "memory_recall", ask("2035-06", "2036-05-01T00:00:00Z")).await, ["Rome"]);
    assert_eq!(found(&memory, "memory_recall", ask("2034", "2036-05-01T00:00:00Z")).await, ["Oslo"]);
    assert_eq!(found(&memory, "memory_recall", json!({"as_of": "2035"})).await, [""; 0], "nothing was stored yet");
    let both = found(&memory, "memory_search", json!({"valid_at": "2035"})).await;
    assert_eq!(both, ["Oslo", "Rome"], "each was true in a part of the year");
}

#[tokio::test]
async fn dates_keep_their_precision_and_memory_get_has_the_timeline() {
    let memory = at("2036-01-01").await;
    let oslo = lives(&memory, "Oslo", json!({"valid_from": "2030-03", "observed_at": "2035-12-24"})).await;
    lives(&memory, "Rome", json!({"valid_from": 2033})).await;
    let view = get(&memory, "fact", &oslo["id"]).await;
    assert_eq!((&view["valid_from"], &view["observed_at"]), (&json!("2030-03"), &json!("2035-12-24")));
    assert_eq!(view["valid_to"], "2033-01-01T00:00:00Z", "where the next one begins");
    let timeline: Vec<(&Value, &Value)> =
        view["timeline"].as_array().unwrap().iter().map(|period| (&period["content"], &period["when"])).collect();
    assert_eq!(timeline, [(&json!("Oslo"), &json!("past")), (&json!("Rome"), &json!("present"))]);
}

#[tokio::test]
async fn bad_dates_are_refused() {
    let memory = at("2036-01-01").await;
    let fact = |more: Value| {
        let mut fact = json!({"subject": "Anna", "predicate": "lives_in", "content": "Oslo"});
        fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fact
    };
    for (more, part) in [
        (json!({"valid_from": "2034", "valid_to": "2033"}), "before"),
        (json!({"valid_from": "soon"}), "not a date"),
        (json!({"valid_from": "12034"}), "out of range"),
        (json!({"valid_to": "0000-01-01"}), "out of range"),
        (json!({"observed_at": "2049"}), "future"),
    ] {
        let error = refused(&memory, "memory_store_fact", fact(more.clone())).await;
        assert!(format!("{error:?}").contains(part), "{more}: {error:?}");
    }
    let error = refused(&memory, "memory_search", json!({"query": "x", "as_of": "2037"})).await;
    assert!(format!("{error:?}").contains("future"), "{error:?}");
    assert_eq!(count(&memory, "facts").await, 0);
}

#[tokio::test]
async fn words_of_time_ask_for_that_time() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2015", "valid_to": "2019"})).await;
    lives(&memory, "Rome", json!({"valid_from": "2019"})).await;
    lives(&memory, "Bern", json!({"valid_from": "2034"})).await;
    let answer = memory
        .call(
            "memory_recall",
            json!({"topic": "where did Anna lives_in in 2031?", "min_confidence": 0, "explain": true}),
        )
        .await
        .unwrap();
    assert_eq!(answer["results"][0]["content"], "Rome");
    assert_eq!(answer["trace"]["time"]["window"]["phrase"], "in 2031");
    let all: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|hit| &hit["content"]).collect();
    assert!(all.contains(&&json!("Bern")), "a boost, not a filter: {all:?}");
}

#[tokio::test]
async fn since_and_until_go_by_when_it_was_said_or_happened() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2010", "valid_to": "2012"})).await;
    let episode = |content: &str, when: &str| json!({"content": content, "butler": "general", "occurred_at": when});
    memory.call("memory_store_episode", episode("Anna lives_in a tent", "2035-07-01")).await.unwrap();
    memory.call("memory_store_episode", episode("Anna lives_in a boat", "2034-07-01")).await.unwrap();
    go_to(&memory, "2036-01-05");
    lives(&memory, "Rome", json!({})).await;
    assert_eq!(found(&memory, "memory_search", json!({"since": "2036-01-04"})).await, ["Rome"]);
    assert_eq!(found(&memory, "memory_search", json!({"since": "3d"})).await, ["Rome"]);
    assert_eq!(
        found(&memory, "memory_search", json!({"since": "2035", "until": "2036-01-02"})).await,
        ["Anna lives_in a tent", "Oslo"]
    );
    assert_eq!(found(&memory, "memory_search", json!({"until": "2034"})).await, ["Anna lives_in a boat"]);
}

#[tokio::test]
async fn since_alone_leaves_history_out_of_recall() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Rome", json!({})).await;
    lives(&memory, "Oslo", json!({"valid_from": "2018", "valid_to": "2020"})).await;
    assert_eq!(found(&memory, "memory_recall", json!({"since": "1d"})).await, ["Rome"]);
}

#[tokio::test]
async fn what_was_believed_is_shown_with_the_dates_of_then() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2030"})).await;
    go_to(&memory, "2036-05-01");
    lives(&memory, "Rome", json!({"valid_from": "2036-03"})).await;
    let arguments = json!({"query": "Anna lives_in", "min_confidence": 0, "as_of": "2036-04-01"});
    let hit = &memory.call("memory_search", arguments).await.unwrap()["results"][0];
    assert_eq!((&hit["content"], hit.get("valid_to")), (&json!("Oslo"), None), "nobody knew of an end: {hit}");
}

#[tokio::test]
async fn memory_changes_tells_what_was_learned_changed_contradicted_faded_and_forgotten() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({})).await;
    let tea = json!({"subject": "Ben", "predicate": "drinks", "content": "tea", "permanence": "ephemeral"});
    memory.call("memory_store_fact", tea).await.unwrap();
    let rule = memory.call("memory_store_rule", json!({"content": "Ask first"})).await.unwrap()["id"].clone();
    go_to(&memory, "2036-02-01");
    lives(&memory, "Rome", json!({})).await;
    let secret = json!({"subject": "Cid", "predicate": "hides", "content": "a letter"});
    let secret = memory.call("memory_store_fact", secret).await.unwrap()["id"].clone();
    memory
        .call("memory_store_fact", json!({"subject": "Dan", "predicate": "owns", "content": "a boat"}))
        .await
        .unwrap();
    memory.call("memory_mark_harmful", json!({"rule_id": rule, "reason": "annoyed"})).await.unwrap();
    memory.memory.sweep(None).await.unwrap();
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": secret})).await.unwrap();
    go_to(&memory, "2036-02-02");
    let changes = memory.call("memory_changes", json!({"since": "7d"})).await.unwrap();
    assert_eq!(told(&changes, "learned"), ["Dan|a boat|-"], "neither what is older nor what was forgotten since");
    assert_eq!(told(&changes, "changed"), ["Anna|Rome|Oslo"]);
    assert_eq!(told(&changes, "contradicted"), ["|Ask first|-"]);
    assert_eq!(told(&changes, "faded"), ["Ben|tea|-"]);
    assert_eq!(told(&changes, "forgotten"), ["Cid|-|-"], "only the name is told");
    lives(&memory, "Paris", json!({"valid_from": "2037"})).await;
    let planned = memory.call("memory_changes", json!({"since": "7d"})).await.unwrap();
    assert_eq!(told(&planned, "changed"), ["Anna|Rome|Oslo"], "a plan that ends it does not hide what was before");
    let little = memory.call("memory_changes", json!({"since": "7d", "token_budget": 15})).await.unwrap();
    assert!(little["left_out"].as_u64().unwrap() > 0 && little["tokens"].as_u64().unwrap() <= 15, "{little}");
    let earlier = memory.call("memory_changes", json!({"since": "2036-01-01", "until": "2036-01-02"})).await.unwrap();
    assert_eq!(told(&earlier, "changed"), [""; 0]);
    for arguments in
        [json!({}), json!({"since": "2040"}), json!({"since": "soon"}), json!({"since": "1d", "until": "2d"})]
    {
        refused(&memory, "memory_changes", arguments).await;
    }
    let soon = refused(&memory, "memory_changes", json!({"since": "soon"})).await;
    assert!(soon.hint.as_deref().is_some_and(|hint| hint.contains("7d")), "{soon:?}");
}

#[tokio::test]
async fn a_context_says_since_when_and_what_changed_and_keeps_the_format_of_other_facts() {
    let memory = at("2036-01-01").await;
    lives(&memory, "Oslo", json!({"valid_from": "2023"})).await;
    memory.call("memory_store_fact", json!({"subject": "Anna", "predicate": "job", "content": "baker"})).await.unwrap();
    let context = async |more: Value| {
        let mut arguments = json!({"trigger_prompt": "Anna lives_in job", "butler": "general"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        memory.call("memory_context", arguments).await.unwrap()
    };
    let plain = context(json!({})).await["context"].as_str().unwrap().to_owned();
    assert!(plain.contains("- [Anna] [lives_in]: Oslo (since 2023, confidence: 1.00)\n"), "{plain}");
    assert!(plain.contains("- [Anna] [job]: baker (confidence: 1.00)\n"), "{plain}");
    assert!(!plain.contains("Changes"), "{plain}");
    let changed = context(json!({"changes_since": "1d", "token_budget": 400})).await;
    let text = changed["context"].as_str().unwrap();
    assert!(text.contains("## Changes Since 31 Dec 2035\n- learned [Anna]"), "{text}");
    assert!(changed["tokens"].as_u64().unwrap() <= 400, "{changed}");
}

#[tokio::test]
async fn rules_and_names_are_those_that_were_believed_then() {
    let memory = at("2036-01-01").await;
    let rule = memory.call("memory_store_rule", json!({"content": "Ask before dinner"})).await.unwrap()["id"].clone();
    let created = json!({"canonical_name": "Anna", "entity_type": "person"});
    let anna = memory.call("entity_create", created).await.unwrap()["entity_id"].clone();
    let dinner = json!({"subject": "Anna", "predicate": "likes", "content": "dinner", "entity_id": anna});
    memory.call("memory_store_fact", dinner).await.unwrap();
    go_to(&memory, "2036-02-01");
    let id = butler_domain::RuleId(rule.as_str().unwrap().parse().unwrap());
    let edited =
        butler_memory::RuleChanges { content: Some("Never ask before dinner".to_owned()), ..Default::default() };
    memory.memory.edit_rule(&memory.as_test(), id, &edited).await.unwrap().unwrap();
    memory.call("entity_update", json!({"entity_id": anna, "canonical_name": "Anna Berg"})).await.unwrap();
    go_to(&memory, "2036-03-01");
    memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": rule})).await.unwrap();
    go_to(&memory, "2036-04-01");
    let shown = async |as_of: &str| {
        let arguments = json!({"query": "dinner", "types": ["rule", "fact"], "min_confidence": 0, "as_of": as_of});
        let answer = memory.call("memory_search", arguments).await.unwrap();
        let mut texts: Vec<String> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["entity_name"].as_str().unwrap_or(hit["content"].as_str().unwrap()).to_owned())
            .collect();
        texts.sort();
        texts
    };
    assert_eq!(shown("2035").await, [""; 0]);
    assert_eq!(shown("2036-01-15").await, ["Anna", "Ask before dinner"]);
    assert_eq!(shown("2036-02-15").await, ["Anna Berg", "Never ask before dinner"]);
    assert_eq!(shown("2036-03-15").await, ["Anna Berg"], "the rule was forgotten");
}
