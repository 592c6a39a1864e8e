//! What decides the order: rarity, length, names, corrected words, and use.

use butler_testkit::{FakeEmbedder, MemoryFixture};
use serde_json::json;
use uuid::Uuid;

use crate::world::{episode, fact, fact_with, id, ids, number, results, rule};

async fn found(world: &MemoryFixture, mode: &str, query: &str) -> Vec<Uuid> {
    ids(&results(world, "memory_search", json!({"query": query, "mode": mode, "types": ["fact"]})).await)
}

#[tokio::test]
async fn a_rare_word_outranks_frequent_ones_and_a_short_text_a_long_one() {
    let world = MemoryFixture::new().await;
    for n in 0..30 {
        fact(&world, &format!("report {n}"), "state", &format!("weekly report number {n} was sent")).await;
    }
    let long: Vec<String> = (0..300).map(|n| format!("filler{n}")).collect();
    let wordy = fact(&world, "archive", "text", &format!("zeppelin {}", long.join(" "))).await;
    let rare = fact(&world, "hangar", "holds", "a zeppelin").await;
    // Without vectors only the words decide.
    world.db.execute("UPDATE facts SET embedding = NULL, embedding_version_id = NULL").await;
    for mode in ["hybrid", "fused"] {
        assert_eq!(found(&world, mode, "was the weekly report about a zeppelin sent").await[0..1], [rare], "{mode}");
        assert_eq!(found(&world, mode, "zeppelin").await[..2], [rare, wordy], "{mode}");
    }
}

#[tokio::test]
async fn facts_that_tie_in_their_words_are_ordered_by_meaning() {
    let world = MemoryFixture::new().await;
    let wanted = fact(&world, "Anna", "pet", "a grey cat").await;
    for n in 0..60 {
        world.clock.advance(std::time::Duration::from_secs(1));
        fact(&world, "Anna", &format!("note{n}"), &format!("something else, number {n}")).await;
    }
    for tool in ["hybrid", "fused", "deep"] {
        assert_eq!(found(&world, tool, "Anna pet grey cat").await[0], wanted, "{tool}");
    }
    let recalled = results(&world, "memory_recall", json!({"topic": "Anna pet grey cat"})).await;
    assert_eq!(id(&recalled[0]), wanted);
}

#[tokio::test]
async fn the_facts_of_a_named_entity_are_found_whatever_they_say() {
    let world = MemoryFixture::new().await;
    let entity = json!({"canonical_name": "Margarethe Lindqvist", "entity_type": "person", "aliases": ["Aunt Greta"]});
    let entity = id(&world.call("entity_create", entity).await.unwrap());
    for n in 0..40 {
        fact(&world, &format!("s{n}"), "note", &format!("what the cousin of number {n} eats for dinner")).await;
    }
    let wanted = fact_with(&world, "M. Lindqvist", "diet", "no shellfish", json!({"entity_id": entity})).await;
    for (mode, query) in [("hybrid", "What does Aunt Greta's dinner need?"), ("fused", "Aunt Greta")] {
        let hits = results(&world, "memory_search", json!({"query": query, "mode": mode, "explain": true})).await;
        let hit = hits.iter().find(|hit| id(hit) == wanted).unwrap_or_else(|| panic!("{mode}: {hits:?}"));
        assert_eq!(hit["explain"]["named"], true);
    }
    let other = results(&world, "memory_search", json!({"query": "greta", "explain": true})).await;
    assert!(other.iter().all(|hit| hit["explain"]["named"] != true), "part of a name is not the name");
}

#[tokio::test]
async fn a_name_without_its_accents_or_misspelled_finds_the_facts_of_its_entity_but_counts_less() {
    let world = MemoryFixture::new().await;
    let entity = json!({"canonical_name": "Margarethe Grønning", "entity_type": "person", "aliases": ["Tante Sølvi"]});
    let entity = id(&world.call("entity_create", entity).await.unwrap());
    for n in 0..40 {
        fact(&world, &format!("s{n}"), "note", &format!("entry number {n} about dinner")).await;
    }
    let wanted = fact_with(&world, "aunt", "diet", "no shellfish", json!({"entity_id": entity})).await;
    let mut scores: Vec<f64> = Vec::new();
    for query in ["Tante Sølvi", "TANTE SOLVI?", "Tante Solvo", "Tannte Solvo's"] {
        let hits = results(&world, "memory_search", json!({"query": query, "mode": "hybrid", "explain": true})).await;
        let hit = hits.iter().find(|hit| id(hit) == wanted).unwrap_or_else(|| panic!("{query}: {hits:?}"));
        assert_eq!(hit["explain"]["named"], true, "{query}");
        scores.push(number(&hit["explain"], "keyword_score"));
    }
    assert!(scores.is_sorted_by(|better, worse| better > worse), "{scores:?}");
}

#[tokio::test]
async fn a_misspelled_word_finds_its_memory_and_never_outranks_an_exact_match() {
    let world = MemoryFixture::new().await;
    let wanted = fact(&world, "project", "language", "written in typescript").await;
    let place = fact(&world, "office", "street", "Grønningveien 4").await;
    for n in 0..20 {
        fact(&world, &format!("s{n}"), "note", &format!("unrelated entry {n}")).await;
    }
    let answer =
        world.call("memory_search", json!({"query": "typsecript", "mode": "keyword", "explain": true})).await.unwrap();
    assert_eq!(id(&answer["results"][0]), wanted);
    assert_eq!(answer["trace"]["stores"]["fact"]["corrections"]["typescript"], "typsecript");
    assert_eq!(found(&world, "keyword", "gronningveien").await, [place], "without its accent");
    let exact = fact(&world, "typo", "example", "typsecript").await;
    for mode in ["keyword", "hybrid", "fused"] {
        assert_eq!(found(&world, mode, "typsecript").await[0], exact, "{mode}");
    }
}

#[tokio::test]
async fn an_english_word_finds_the_word_that_only_differs_by_accents_unless_a_memory_contains_it_as_typed() {
    let world = MemoryFixture::with_embedder(FakeEmbedder::with_vocabulary(&["cafe", "resume", "where"])).await;
    let wanted = fact(&world, "Anna", "document", "sent her Résumé").await;
    let place = fact(&world, "corner", "sells", "tea in the café").await;
    for n in 0..20 {
        fact(&world, &format!("s{n}"), "note", &format!("unrelated entry {n}")).await;
    }
    let answer =
        world.call("memory_search", json!({"query": "resume", "mode": "keyword", "explain": true})).await.unwrap();
    assert_eq!(id(&answer["results"][0]), wanted);
    assert_eq!(answer["trace"]["stores"]["fact"]["corrections"]["résumé"], "resume");
    for mode in ["keyword", "hybrid", "fused"] {
        assert_eq!(found(&world, mode, "where is the cafe").await[0], place, "{mode}");
    }
    let exact = fact(&world, "player", "button", "resume").await;
    assert_eq!(found(&world, "keyword", "resume").await, [exact]);
}

#[tokio::test]
async fn a_corrected_rare_word_does_not_outrank_a_commoner_word_that_was_typed() {
    let world = MemoryFixture::new().await;
    for n in 0..30 {
        fact(&world, &format!("s{n}"), "note", &format!("unrelated entry {n}")).await;
    }
    let rare = fact(&world, "project", "language", "written in typescript").await;
    let mut typed: Vec<Uuid> = Vec::new();
    for n in 0..5 {
        typed.push(fact(&world, &format!("bed {n}"), "place", &format!("in the garden, number {n}")).await);
    }
    typed.sort();
    // Without vectors only the words decide.
    world.db.execute("UPDATE facts SET embedding = NULL, embedding_version_id = NULL").await;
    for mode in ["hybrid", "fused"] {
        let mut ranked = found(&world, mode, "garden typsecript").await;
        assert_eq!(ranked.get(5), Some(&rare), "{mode}");
        ranked.truncate(5);
        ranked.sort();
        assert_eq!(ranked, typed, "{mode}");
        assert_eq!(found(&world, mode, "entry typsecript").await[0], rare, "{mode}: most facts contain the word entry");
    }
}

#[tokio::test]
async fn what_was_used_today_does_not_outrank_a_clear_match() {
    let world = MemoryFixture::new().await;
    for n in 0..30 {
        fact(&world, &format!("guest {n}"), "dinner", &format!("dinner guest number {n}")).await;
    }
    let wanted = fact(&world, "dinner", "allergy", "shellfish allergy at dinner").await;
    let ask = || results(&world, "memory_recall", json!({"topic": "shellfish allergy", "limit": 3}));
    assert_eq!(id(&ask().await[0]), wanted);
    world.clock.advance_days(60.0);
    for _ in 0..5 {
        results(&world, "memory_recall", json!({"topic": "dinner guest number", "limit": 10})).await;
    }
    let after = ask().await;
    assert_eq!(id(&after[0]), wanted);
    assert!(number(&after[0], "relevance") > number(&after[1], "relevance") + 0.5);
}

#[tokio::test]
async fn in_a_small_store_what_was_used_today_stays_below_a_clear_match() {
    let world = MemoryFixture::new().await;
    for n in 0..8 {
        fact(&world, &format!("thing {n}"), "colour", &format!("shade {n} of grey")).await;
    }
    rule(&world, "Check the tide tables before sailing.", json!({})).await;
    for _ in 0..3 {
        results(&world, "memory_recall", json!({"topic": "which colour has each thing, and what about the tide?"}))
            .await;
    }
    let wanted = fact(&world, "wifi", "network", "called Lighthouse").await;
    let found = results(&world, "memory_recall", json!({"topic": "what is the wifi network called?"})).await;
    assert_eq!(id(&found[0]), wanted);
    assert_eq!(number(&found[0], "recency"), 0.0, "it was never used");
}

#[tokio::test]
async fn a_context_contains_the_episode_that_the_prompt_is_about() {
    let world = MemoryFixture::new().await;
    let session = json!({"session_id": Uuid::from_u128(7)});
    episode(&world, "general", "Where did you leave the violin?", session.clone()).await;
    world.clock.advance_days(0.01);
    episode(&world, "general", "The violin is at the repair shop in Bergen.", session).await;
    for n in 0..60 {
        world.clock.advance_days(0.01);
        episode(&world, "general", &format!("Small talk number {n} about nothing in particular"), json!({})).await;
    }
    for mode in ["hybrid", "keyword", "deep"] {
        let prompt = json!({"trigger_prompt": "violin repair", "butler": "general", "token_budget": 200, "mode": mode});
        let block = world.call("memory_context", prompt).await.unwrap();
        let text = block["context"].as_str().unwrap();
        let (question, answer) = (text.find("Where did you leave"), text.find("repair shop in Bergen"));
        assert!(question.is_some() && question < answer, "{mode}: both turns, in the order of time: {text}");
        assert!(text.contains("Small talk number 59"), "{mode}: the rest is for the latest: {text}");
    }
}

#[tokio::test]
async fn vectors_of_another_model_displace_no_episode_of_a_context() {
    let world = MemoryFixture::new().await;
    let prompt = "where is my instrument?";
    fact(&world, "prompt", "text", prompt).await;
    episode(&world, "general", "The violin went to Bergen.", json!({})).await;
    for n in 0..60 {
        world.clock.advance_days(0.01);
        episode(&world, "general", &format!("Small talk number {n} about nothing in particular"), json!({})).await;
    }
    world.clock.advance_days(0.01);
    episode(&world, "general", "Lunch was late.", json!({})).await;
    world
        .db
        .execute(
            "INSERT INTO embedding_versions (model, version, dimensions) VALUES ('another', '1', 384);
             UPDATE episodes SET embedding = (SELECT embedding FROM facts) WHERE content NOT LIKE 'Lunch%';
             UPDATE episodes SET embedding_version_id = (SELECT id FROM embedding_versions WHERE model = 'another')
                 WHERE content LIKE 'Small talk%'",
        )
        .await;
    let arguments = json!({"trigger_prompt": prompt, "butler": "general", "token_budget": 200});
    let block = world.call("memory_context", arguments).await.unwrap();
    let text = block["context"].as_str().unwrap();
    assert!(text.contains("The violin went to Bergen."), "{text}");
}
