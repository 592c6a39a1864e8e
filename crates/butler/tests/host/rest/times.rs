//! The parameters of time: lists, entities, the graph, and what changed.

use serde_json::{Value, json};

use super::Api;

async fn store(api: &Api, content: &str, more: Value) -> String {
    let mut fact = json!({"subject": "Anna", "predicate": "lives_in", "content": content, "tags": ["home"]});
    fact.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    api.tool("general", "memory_store_fact", fact).await["id"].as_str().unwrap().to_owned()
}

async fn contents(api: &Api, path: &str) -> Vec<String> {
    let listed = api.get(path).await;
    let rows = listed["data"].as_array().unwrap();
    assert_eq!(listed["meta"]["total"], rows.len(), "{path}");
    rows.iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_a_time_takes_every_filter() {
    let api = Api::start().await;
    store(&api, "Oslo", json!({"valid_from": "2015"})).await;
    store(&api, "Rome", json!({"valid_from": "2019-05"})).await;
    let other = json!({"subject": "Bert", "scope": "health", "permanence": "stable", "valid_from": "2010", "tags": []});
    store(&api, "Bern", other).await;
    assert_eq!(contents(&api, "/api/memory/facts?sort=subject").await, ["Rome", "Bern"]);
    for (filter, expected) in [
        ("", vec!["Bern", "Oslo"]),
        ("&subject=Anna", vec!["Oslo"]),
        ("&q=Bern", vec!["Bern"]),
        ("&q=Oslo&sort=best", vec!["Oslo"]),
        ("&permanence=stable", vec!["Bern"]),
        ("&tag=home", vec!["Oslo"]),
        ("&scope=health", vec!["Bern"]),
        ("&sort=oldest", vec!["Oslo", "Bern"]),
        ("&sort=importance", vec!["Bern", "Oslo"]),
        ("&validity=active", vec!["Bern"]),
        ("&validity=superseded", vec!["Oslo"]),
        ("&min_confidence=0.5", vec!["Bern", "Oslo"]),
        ("&since=1d", vec!["Bern", "Oslo"]),
        ("&until=2001", vec![]),
    ] {
        assert_eq!(contents(&api, &format!("/api/memory/facts?valid_at=2017{filter}")).await, expected, "{filter}");
    }
    let page = api.get("/api/memory/facts?valid_at=2017&limit=1").await;
    let cursor = page["meta"]["next_cursor"].as_str().unwrap();
    let next = api.get(&format!("/api/memory/facts?valid_at=2017&limit=1&cursor={cursor}")).await;
    assert_eq!(next["data"][0]["content"], "Oslo", "pages by cursor");
    assert_eq!(contents(&api, "/api/memory/facts?as_of=2001").await, [""; 0], "nothing was known then");
    for bad in ["valid_at=soon", "as_of=9000", "since=2030&until=2020"] {
        assert_eq!(api.answer(&format!("/api/memory/facts?{bad}")).await.status, 422, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_entities_and_episodes_are_listed_since_and_until() {
    let api = Api::start().await;
    api.rule("Ask first").await;
    api.tool("general", "entity_create", json!({"canonical_name": "Anna", "entity_type": "person"})).await;
    let past = json!({"content": "an old letter", "butler": "general", "occurred_at": "2020-05-01"});
    api.tool("general", "memory_store_episode", past).await;
    api.episode("a new letter").await;
    let total = async |path: &str| api.get(path).await["meta"]["total"].clone();
    for list in ["rules", "entities"] {
        let best = if list == "rules" { "&sort=best&q=Ask" } else { "&sort=best&q=Ann" };
        for (time, expected) in [("since=1h", 1), ("until=2020", 0), ("since=2020&until=2999", 1)] {
            for sort in ["", best] {
                assert_eq!(total(&format!("/api/memory/{list}?{time}{sort}")).await, expected, "{list} {time}{sort}");
            }
        }
        assert_eq!(api.answer(&format!("/api/memory/{list}?since=soon")).await.status, 422);
    }
    assert_eq!(contents(&api, "/api/memory/episodes?until=2020-05").await, ["an old letter"]);
    assert_eq!(contents(&api, "/api/memory/episodes?since=2021").await, ["a new letter"]);
    assert_eq!(contents(&api, "/api/memory/episodes?since=2021&q=letter&sort=best").await, ["a new letter"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_the_graph_and_facts_show_names_and_dates_of_then() {
    let api = Api::start().await;
    let create = async |name: &str| {
        let entity = json!({"canonical_name": name, "entity_type": "person"});
        api.tool("general", "entity_create", entity).await["entity_id"].as_str().unwrap().to_owned()
    };
    let (ann, _bob) = (create("Ann").await, create("Bob").await);
    let knows =
        json!({"subject": "Ann", "predicate": "knows", "content": "knows Bob", "object": "Bob", "valid_from": "2020"});
    api.tool("general", "memory_store_fact", knows).await;
    let before = chrono_now();
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    api.tool("general", "entity_update", json!({"entity_id": ann, "canonical_name": "Ann Berg"})).await;
    let graph = api.get(&format!("/api/memory/graph?as_of={before}")).await;
    let names: Vec<&str> =
        graph["data"]["entities"].as_array().unwrap().iter().map(|e| e["canonical_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Ann", "Bob"]);
    assert_eq!(graph["data"]["edges"][0]["valid_from"], "2020", "{graph}");
    let path = format!("/api/memory/entities/{ann}");
    let then = api.get(&format!("{path}?as_of={before}")).await;
    assert_eq!((&then["data"]["name_then"], &then["data"]["canonical_name"]), (&json!("Ann"), &json!("Ann Berg")));
    assert_eq!(then["data"]["predicates"][0]["facts"][0]["entity_name"], "Ann", "{then}");
    assert_eq!(api.get(&path).await["data"]["name_then"], Value::Null);
    let around = api.get(&format!("{path}/neighbors?as_of={before}")).await;
    assert_eq!(around["data"]["entities"][0]["canonical_name"], "Ann");
}

fn chrono_now() -> String {
    use butler_domain::{Clock, SystemClock};
    SystemClock.now().to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_with_null_removes_a_date() {
    let api = Api::start().await;
    let fact = store(&api, "Oslo", json!({"valid_from": "2015", "valid_to": "2018"})).await;
    let edited = api.done("PUT", &format!("/api/memory/facts/{fact}"), json!({"valid_to": null})).await;
    let shown = api.get(&format!("/api/memory/facts/{}", edited["id"].as_str().unwrap())).await;
    assert_eq!((&shown["data"]["valid_from"], shown["data"].get("valid_to")), (&json!("2015"), None), "{shown}");
    let nothing = api.send("PUT", &format!("/api/memory/facts/{}", edited["id"].as_str().unwrap()), json!({})).await;
    assert_eq!(nothing.status, 422);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_since_a_time() {
    let api = Api::start().await;
    store(&api, "Oslo", json!({})).await;
    store(&api, "Rome", json!({})).await;
    let changes = api.get("/api/memory/changes?since=1d").await;
    let lists = ["learned", "changed", "contradicted", "faded", "forgotten"];
    assert!(lists.iter().all(|list| changes["data"][0][list].is_array()), "{changes}");
    assert!(changes["data"][0]["changed"].to_string().contains("Rome"), "{changes}");
    let week = api.get("/api/memory/changes").await;
    assert_eq!(week["data"][0]["changed"], changes["data"][0]["changed"], "a week if left out");
    assert_eq!(week["meta"]["total"], 1, "{week}");
    let none = api.get("/api/memory/changes?since=2001&until=2002").await;
    assert!(lists.iter().all(|list| none["data"][0][list] == json!([])), "{none}");
    for (bad, status) in [("token_budget=0", 400), ("since=soon", 422), ("since=2020&until=2010", 422)] {
        assert_eq!(api.answer(&format!("/api/memory/changes?{bad}")).await.status, status, "{bad}");
    }
}
