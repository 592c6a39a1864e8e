use butler_memory::tool::ToolError;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::world::{fact, ids, results};

async fn refused(world: &MemoryFixture, tool: &str, arguments: Value) -> ToolError {
    let error = world.call(tool, arguments.clone()).await.expect_err(&arguments.to_string());
    assert_eq!(error.code.as_str(), "invalid_argument", "{arguments}: {}", error.message);
    error
}

#[tokio::test]
async fn an_empty_query_and_limit_zero_find_nothing() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    for arguments in [json!({"query": ""}), json!({"query": " \u{0} "}), json!({"query": "diet", "limit": 0})] {
        assert!(results(&world, "memory_search", arguments).await.is_empty());
    }
    assert!(results(&world, "memory_recall", json!({"topic": ""})).await.is_empty());
    assert!(results(&world, "memory_recall", json!({"topic": "diet", "limit": 0})).await.is_empty());
}

#[tokio::test]
async fn unknown_mode_and_type_and_bad_limits_are_errors() {
    let world = MemoryFixture::new().await;
    let mode = refused(&world, "memory_search", json!({"query": "x", "mode": "fuzzy"})).await;
    assert!(mode.message.contains("hybrid, fused, deep, semantic, keyword"), "{}", mode.message);
    let kind = refused(&world, "memory_search", json!({"query": "x", "types": ["thoughts"]})).await;
    assert!(kind.message.contains("episode, fact, rule"), "{}", kind.message);
    for limit in [json!(-1), json!(101), json!(1e9), json!(2.5), json!("ten"), json!([])] {
        refused(&world, "memory_search", json!({"query": "x", "limit": limit})).await;
        refused(&world, "memory_recall", json!({"topic": "x", "limit": limit})).await;
    }
    for (key, value) in [
        ("min_confidence", json!(1.5)),
        ("min_relevance", json!(-0.1)),
        ("explain", json!("yes")),
        ("scope", json!("")),
        ("types", json!("")),
        ("types", json!({"a": 1})),
        ("types", json!([])),
        ("types", json!("[]")),
    ] {
        refused(&world, "memory_search", json!({"query": "x", key: value})).await;
    }
    refused(&world, "memory_search", json!({})).await;
    refused(&world, "memory_search", json!({"query": 7})).await;
    refused(&world, "memory_context", json!({"trigger_prompt": "x", "butler": ""})).await;
    refused(&world, "memory_context", json!({"trigger_prompt": "x", "butler": "b", "token_budget": -1})).await;
}

#[tokio::test]
async fn operators_and_quotes_in_the_query_are_plain_text() {
    let world = MemoryFixture::new().await;
    let stored = fact(&world, "note", "text", "it's \"a & b | !c:* as they said").await;
    for query in [
        "it's \"a & b | !c:*",
        "'; DROP TABLE facts; --",
        "said:* & !'x' <-> (",
        "\\ \\' %_",
        "a&b|c",
        "'",
        "http://x.y/z?a=b&c='d'",
    ] {
        for mode in ["semantic", "keyword", "hybrid", "deep"] {
            world
                .call("memory_search", json!({"query": query, "mode": mode, "min_relevance": 0.0}))
                .await
                .expect(query);
        }
        world.call("memory_recall", json!({"topic": query})).await.expect(query);
        world.call("memory_context", json!({"trigger_prompt": query, "butler": "general"})).await.expect(query);
    }
    let found =
        results(&world, "memory_search", json!({"query": "they've \"said\" | nothing", "mode": "keyword"})).await;
    assert_eq!(ids(&found), [stored]);
}

#[tokio::test]
async fn queries_of_8_kib_emoji_and_right_to_left_text() {
    let world = MemoryFixture::new().await;
    let hebrew = fact(&world, "משתמש", "שפה", "אוהב שוקולד מריר").await;
    let emoji = fact(&world, "mood", "today", "🎉 party").await;
    let longest = "words and more words ".repeat(390);
    assert!(longest.len() <= 8 * 1024);
    for mode in ["hybrid", "deep"] {
        world.call("memory_search", json!({"query": longest, "mode": mode})).await.expect("8 KiB are fine");
    }
    let distinct: String = (0..1100).map(|n| format!("w{n:05} ")).collect();
    world.call("memory_search", json!({"query": distinct})).await.expect("a thousand different words are fine");
    for (tool, field) in [("memory_search", "query"), ("memory_recall", "topic")] {
        let short = world.call(tool, json!({field: "party"})).await.unwrap();
        assert!(short.get("note").is_none());
        let long = format!("party {}", "x".repeat(8 * 1024));
        let answer = world.call(tool, json!({field: long})).await.unwrap();
        let note = answer["note"].as_str().unwrap();
        assert!(note.contains("8192") && note.contains("only its beginning"), "{note}");
    }
    assert_eq!(ids(&results(&world, "memory_search", json!({"query": "שוקולד", "mode": "keyword"})).await), [hebrew]);
    assert_eq!(ids(&results(&world, "memory_search", json!({"query": "🎉 party", "mode": "keyword"})).await), [emoji]);
}

#[tokio::test]
async fn what_models_send_is_accepted_when_its_meaning_is_certain() {
    let world = MemoryFixture::new().await;
    let arguments = json!({"subject": "user", "predicate": "diet", "content": "vegetarian", "importance": "7",
        "permanence": "Stable", "entity_id": "", "source_episode_id": " ", "tags": "food, home"});
    let stored = world.call("memory_store_fact", arguments).await.unwrap()["id"].clone();
    let fact = world.call("memory_get", json!({"memory_type": "Fact", "memory_id": stored})).await.unwrap();
    assert_eq!(
        (&fact["importance"], &fact["permanence"], &fact["scope"]),
        (&json!(7.0), &json!("stable"), &json!("global"))
    );
    assert_eq!((&fact["tags"], &fact["entity_id"]), (&json!(["food", "home"]), &json!(null)));
    for (types, found) in
        [(json!("fact,rule"), 1), (json!("Facts and rules"), 1), (json!(["Fact"]), 1), (json!("Episode"), 0)]
    {
        let arguments =
            json!({"query": "diet", "types": types, "limit": "5", "min_confidence": "0.1", "explain": "false"});
        assert_eq!(results(&world, "memory_search", arguments).await.len(), found, "{types}");
    }
    let episode = json!({"content": "Ate", "butler": "general", "session_id": "", "idempotency_key": ""});
    world.call("memory_store_episode", episode).await.unwrap();
}

#[tokio::test]
async fn ten_short_facts_are_short_as_text_and_exact_as_data() {
    let world = MemoryFixture::new().await;
    for n in 0..10 {
        fact(&world, &format!("person {n}"), "likes", &format!("Person {n} likes tea with milk.")).await;
    }
    world.clock.advance_days(11.0);
    let caller = butler_memory::Caller::trusted();
    let answer = world.call_as(&caller, "memory_recall", json!({"topic": "who likes tea"})).await.unwrap();
    let text = answer.as_text();
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["results"].as_array().unwrap().len(), 10);
    assert!(text.len() <= 2560, "{} bytes: {text}", text.len());
    let exact = answer.structured["results"][0]["score"].as_f64().unwrap();
    let rounded = shown["results"][0]["score"].as_f64().unwrap();
    assert!(exact != rounded && (exact - rounded).abs() < 1e-4, "{exact} {rounded}");
    assert!(answer.structured["results"][0]["semantic_rank"].is_number(), "the parts of the score are data");
}

#[test]
fn negative_weights_are_rejected_at_start_and_a_sum_other_than_one_is_accepted() {
    let mut config = butler_memory::MemoryConfig::default();
    config.retrieval.score_weights.relevance = 2.0;
    assert!(config.validate().is_ok());
    config.retrieval.score_weights.recency = -0.1;
    assert!(config.validate().unwrap_err().key.contains("recency"));
}
