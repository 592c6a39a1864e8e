//! Recall follows relations from the entities that a query names.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{id, person};

/// Ann's sister is Beth, who is married to Carl, who works at a bakery. Twelve other people fill the store.
async fn family() -> MemoryFixture {
    let memory = MemoryFixture::new().await;
    for name in ["Ann", "Beth", "Carl"] {
        person(&memory, name, &[]).await;
    }
    person(&memory, "Sweet Corner", &["the bakery"]).await;
    for (subject, predicate, object) in
        [("Ann", "has_sister", "Beth"), ("Carl", "married_to", "Beth"), ("Carl", "works_at", "Sweet Corner")]
    {
        let edge = json!({"subject": subject, "predicate": predicate, "content": object, "object": object});
        memory.call("memory_store_fact", edge).await.expect("an edge");
    }
    for number in 0..12 {
        let fact = json!({"subject": format!("Neighbour {number}"), "predicate": "drives", "content": "a red car"});
        memory.call("memory_store_fact", fact).await.expect("a fact");
    }
    memory
}

fn texts(answer: &Value) -> Vec<String> {
    let text = |key: &str, hit: &Value| hit[key].as_str().expect("a text").to_owned();
    let results = answer["results"].as_array().expect("a list").iter();
    results.map(|hit| format!("{} {} {}", text("subject", hit), text("predicate", hit), text("content", hit))).collect()
}

const QUESTION: &str = "Who is Ann's sister married to?";

#[tokio::test]
async fn a_recall_follows_one_relation_and_says_so() {
    let memory = family().await;
    let found = memory.call("memory_recall", json!({"topic": QUESTION, "explain": true})).await.expect("an answer");
    // Both match the question as well as the other, so either may be first.
    let first = &found["results"].as_array().expect("a list")[..2];
    let of =
        |predicate: &str| first.iter().find(|hit| hit["predicate"] == predicate).unwrap_or_else(|| panic!("{found}"));
    let (relation, answer) = (of("has_sister"), of("married_to"));
    assert_eq!(answer["explain"]["reached"]["hops"], 1);
    assert_eq!(answer["explain"]["reached"]["via"], relation["id"]);
    let weighed = &answer["explain"]["weighed"];
    let sum: f64 =
        ["relevance", "importance", "recency", "confidence"].iter().filter_map(|part| weighed[part].as_f64()).sum();
    assert!((sum - answer["score"].as_f64().expect("a score")).abs() < 1e-6, "{answer}");
}

#[tokio::test]
async fn hops_limit_how_far_relations_are_followed() {
    let memory = family().await;
    let reached = async |tool: &str, topic: &str, hops: Option<u32>| {
        let mut arguments = json!({"explain": true, "limit": 30});
        arguments[if tool == "memory_search" { "query" } else { "topic" }] = json!(topic);
        if let Some(hops) = hops {
            arguments["hops"] = json!(hops);
        }
        let found = memory.call(tool, arguments).await.expect("an answer");
        let hits = found["results"].as_array().expect("a list").clone();
        let names = texts(&found).into_iter().zip(hits);
        names.filter(|(_, hit)| !hit["explain"]["reached"].is_null()).map(|(text, _)| text).collect::<Vec<_>>()
    };
    let (married, works) = ("Carl married_to Beth", "Carl works_at Sweet Corner");
    assert_eq!(reached("memory_recall", QUESTION, None).await, [married]);
    assert!(reached("memory_recall", QUESTION, Some(0)).await.is_empty());
    assert!(reached("memory_search", QUESTION, None).await.is_empty(), "a search follows none by default");
    assert_eq!(reached("memory_search", QUESTION, Some(1)).await, [married]);
    let far = reached("memory_recall", "Where does the husband of Ann's sister work?", Some(2)).await;
    assert!(far.contains(&works.to_owned()), "{far:?}");
    assert!(reached("memory_recall", "Who drives a red car?", Some(3)).await.is_empty(), "no entity is named");
    for mode in ["keyword", "semantic", "fused"] {
        let arguments = json!({"query": QUESTION, "mode": mode, "hops": 1, "types": ["fact"]});
        let found = memory.call("memory_search", arguments).await.expect("an answer");
        assert!(texts(&found).contains(&married.to_owned()), "{mode}: {:?}", texts(&found));
    }
    let refused = memory.call("memory_recall", json!({"topic": QUESTION, "hops": 4})).await.expect_err("too far");
    assert!(format!("{refused:?}").contains("hops"), "{refused:?}");
}

#[tokio::test]
async fn a_context_holds_what_a_relation_leads_to() {
    let memory = family().await;
    let arguments = json!({"trigger_prompt": QUESTION, "butler": "general", "token_budget": 60});
    let block = memory.call("memory_context", arguments).await.expect("an answer")["context"].to_string();
    assert!(block.contains("has_sister") && block.contains("married_to"), "{block}");
}

#[tokio::test]
async fn relations_are_followed_only_within_the_scope_and_among_active_facts() {
    let memory = family().await;
    person(&memory, "Dora", &[]).await;
    let edge =
        json!({"subject": "Ann", "predicate": "friend_of", "content": "Dora", "object": "Dora", "scope": "work"});
    let edge = memory.call("memory_store_fact", edge).await.expect("an edge");
    let fact = json!({"subject": "Dora", "predicate": "collects", "content": "old maps"});
    memory.call("memory_store_fact", fact).await.expect("a fact");
    let found = async |scope: &str| {
        let arguments =
            json!({"topic": "What does Ann's friend collect?", "scope": scope, "explain": true, "limit": 30});
        let found = memory.call("memory_recall", arguments).await.expect("an answer");
        let hits = found["results"].as_array().expect("a list").iter();
        hits.filter(|hit| hit["content"] == "old maps" && !hit["explain"]["reached"].is_null()).count()
    };
    assert_eq!((found("work").await, found("home").await), (1, 0), "the relation is known at work only");
    memory
        .call("memory_forget", json!({"memory_type": "fact", "memory_id": id(&edge["id"])}))
        .await
        .expect("forgotten");
    assert_eq!(found("work").await, 0, "a forgotten relation leads nowhere");
}

#[tokio::test]
async fn my_sister_is_the_owners_sister() {
    let memory = family().await;
    memory.memory.mark_owner("Ann").await.expect("the owner");
    memory.memory.mark_owner("Ann").await.expect("again");
    memory.memory.mark_owner("Beth").await.expect_err("another owner is marked");
    let found =
        memory.call("memory_recall", json!({"topic": "Who is my sister married to?"})).await.expect("an answer");
    let mut first = texts(&found)[..2].to_vec();
    first.sort();
    assert_eq!(first, ["Ann has_sister Beth", "Carl married_to Beth"]);
    let stored = json!({"subject": "me", "predicate": "plays", "content": "the harp"});
    let stored = memory.call("memory_store_fact", stored).await.expect("a fact");
    let ann = memory.call("entity_resolve", json!({"name": "Ann"})).await.expect("an answer");
    assert_eq!(stored["entity_id"], ann["candidates"][0]["entity_id"]);
    let empty = MemoryFixture::new().await;
    empty.memory.mark_owner("Zoe").await.expect("the owner");
    let zoe = empty.call("entity_resolve", json!({"name": "Zoe"})).await.expect("an answer");
    assert_eq!(zoe["candidates"][0]["entity_type"], "person", "created");
}

#[tokio::test]
async fn an_edge_is_found_by_the_name_of_its_object() {
    let memory = family().await;
    let found =
        memory.call("memory_search", json!({"query": "Who works at the bakery?", "types": ["fact"], "limit": 1}));
    assert_eq!(texts(&found.await.expect("an answer")), ["Carl works_at Sweet Corner"], "by an alias of the object");
}
