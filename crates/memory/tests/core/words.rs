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
