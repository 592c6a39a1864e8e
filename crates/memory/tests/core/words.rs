//! The vocabulary that corrects misspelled words, kept by every tool that writes text.

use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::{count, rows, store_fact};

async fn words(memory: &MemoryFixture) -> Vec<String> {
    let found = rows(memory, "SELECT word FROM words ORDER BY word").await;
    found.iter().map(|row| row["word"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_tool_that_writes_text_notes_its_words() {
    let memory = MemoryFixture::new().await;
    store_fact(&memory, json!({"subject": "Torvald", "predicate": "drinks", "content": "elderflower"})).await;
    memory.call("memory_store_rule", json!({"content": "Never interrupt"})).await.unwrap();
    memory
        .call("memory_store_episode", json!({"content": "Walked to the harbour", "butler": "general"}))
        .await
        .unwrap();
    let created = memory.call("entity_create", json!({"canonical_name": "Grønning", "entity_type": "person"})).await;
    let id = created.unwrap()["entity_id"].clone();
    memory.call("entity_update", json!({"entity_id": id, "aliases": ["Solveig"]})).await.unwrap();
    let expected =
        ["drinks", "elderflower", "grønning", "harbour", "interrupt", "never", "solveig", "torvald", "walked"];
    assert_eq!(words(&memory).await, expected);
}

#[tokio::test]
async fn a_misspelled_name_is_unknown_to_the_program_and_near_in_the_database() {
    let memory = MemoryFixture::new().await;
    store_fact(&memory, json!({"subject": "Solveig Grønning", "predicate": "bakes", "content": "buns"})).await;
    let unknown = memory.memory.unknown_words("Gronning");
    assert_eq!(unknown, ["gronning"], "an embedder without a vocabulary knows no word");
    let near = "near_words('default', ARRAY['gronning']) n WHERE n.word = 'grønning' AND n.factor < 1";
    assert_eq!(count(&memory, near).await, 1);
}

#[tokio::test]
async fn names_with_symbols_and_names_of_stop_words_are_recognised() {
    let memory = MemoryFixture::new().await;
    for (name, content) in
        [("C++", "compiles slowly"), ("McDonald's", "closes at noon"), ("The Who", "plays loudly"), ("Yahoo!", "moved")]
    {
        let entity = json!({"canonical_name": name, "entity_type": "other"});
        let id = memory.call("entity_create", entity).await.unwrap()["entity_id"].clone();
        let fact = json!({"subject": "it", "predicate": format!("habit of {}", name.len()), "content": content, "entity_id": id});
        store_fact(&memory, fact).await;
    }
    for (query, content) in [
        ("C++", "compiles slowly"),
        ("is (C++) good?", "compiles slowly"),
        ("C++'s future", "compiles slowly"),
        ("McDonald's", "closes at noon"),
        ("McDonald's?", "closes at noon"),
        ("The Who", "plays loudly"),
        ("who are the Who?", "plays loudly"),
        ("yahoo!", "moved"),
    ] {
        let found =
            memory.call("memory_search", json!({"query": query, "types": ["fact"], "explain": true})).await.unwrap();
        let ranked: Vec<&str> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|hit| hit["keyword_rank"] == 1)
            .map(|hit| hit["content"].as_str().unwrap())
            .collect();
        assert_eq!(ranked, [content], "{query}: {found}");
    }
}

#[tokio::test]
async fn only_the_first_unknown_words_of_a_query_are_corrected() {
    let memory = MemoryFixture::new().await;
    store_fact(&memory, json!({"subject": "Torvald", "predicate": "drinks", "content": "elderflower"})).await;
    let corrected = async |words: &str| {
        let statement = "SELECT (corrected_query('default', $1)).words";
        let words: Option<String> =
            sqlx::query_scalar(statement).bind(words).fetch_one(&mut memory.db.connect().await).await.unwrap();
        words
    };
    assert_eq!(corrected("elderflowr").await.as_deref(), Some("elderflower"));
    let many = (0..8).map(|n| format!("qqqq{}", "abcdefgh".chars().nth(n).unwrap())).collect::<Vec<_>>().join(" ");
    assert_eq!(corrected(&format!("{many} elderflowr")).await, None, "a text in another language");
}
