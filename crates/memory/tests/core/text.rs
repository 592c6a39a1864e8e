//! How text is stored: NUL, whitespace, and more words than an index can hold.

use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::{count, row, rows, store_fact};

#[tokio::test]
async fn nul_bytes_removed_from_every_stored_text() {
    let memory = MemoryFixture::new().await;
    let id = store_fact(
        &memory,
        json!({"subject": "us\0er", "predicate": "ca\0r", "content": "Vol\0vo", "scope": "ho\0me",
        "tags": ["a\0b"], "metadata": {"k\0": ["v\0"]}}),
    )
    .await["id"]
        .clone();
    let stored = row(&memory, "facts", &id).await;
    assert_eq!(
        (&stored["subject"], &stored["predicate"], &stored["content"]),
        (&json!("user"), &json!("car"), &json!("Volvo"))
    );
    assert_eq!(stored["scope"], "home");
    assert_eq!((&stored["tags"], &stored["metadata"]), (&json!(["ab"]), &json!({"k": ["v"]})));
    memory.call("memory_store_rule", json!({"content": "Ask\0 first", "tags": ["x\0"]})).await.unwrap();
    memory
        .call("memory_store_episode", json!({"content": "It\0 rained", "butler": "gen\0eral", "metadata": {"a": "\0"}}))
        .await
        .unwrap();
    assert_eq!(count(&memory, "rules WHERE content = 'Ask first'").await, 1);
    assert_eq!(count(&memory, "episodes WHERE content = 'It rained' AND butler = 'general'").await, 1);
}

#[tokio::test]
async fn content_is_kept_as_written_and_its_search_text_normalised() {
    let memory = MemoryFixture::new().await;
    let content = "  first line\n\n\tsecond   line ";
    let id = store_fact(&memory, json!({"subject": "u", "predicate": "p", "content": content})).await["id"].clone();
    assert_eq!(row(&memory, "facts", &id).await["content"], content);
    assert_eq!(
        count(&memory, "facts WHERE search_vector @@ phraseto_tsquery('english', 'first line second line')").await,
        1
    );
}

#[tokio::test]
async fn text_without_spaces_is_kept_as_written_and_searched_by_pairs_of_characters() {
    let memory = MemoryFixture::new().await;
    let content = "她在东京塔工作";
    let stored = store_fact(&memory, json!({"subject": "u", "predicate": "p", "content": content})).await;
    assert_eq!(row(&memory, "facts", &stored["id"]).await["content"], content);
    assert_eq!(count(&memory, "facts WHERE search_vector @@ plainto_tsquery('english', '东京 京塔')").await, 1);
    let embedded: Vec<f32> = memory.embedder.vector("u p 她在东京塔工作").to_vec();
    let text = format!("{embedded:?}");
    assert_eq!(count(&memory, &format!("facts WHERE embedding = '{text}'::vector")).await, 1, "as written");
    let (query, _) = butler_domain::validate::query(content);
    assert_eq!(query, content, "the embedded query, too");
}

/// PostgreSQL rejects a tsvector larger than a megabyte; the write must succeed nevertheless.
#[tokio::test]
async fn a_megabyte_of_unique_words_is_stored_and_found_by_its_first_ones() {
    let memory = MemoryFixture::new().await;
    let mut content = String::new();
    for n in 0.. {
        let word = format!("w{n:x}q ");
        if content.len() + word.len() > butler_domain::limits::CONTENT_BYTES {
            break;
        }
        content.push_str(&word);
    }
    store_fact(&memory, json!({"subject": "u", "predicate": "p", "content": content})).await;
    memory.call("memory_store_rule", json!({"content": content})).await.unwrap();
    memory.call("memory_store_episode", json!({"content": content, "butler": "general"})).await.unwrap();
    for table in ["facts", "rules", "episodes"] {
        let sql = format!("SELECT octet_length(content) AS n, search_vector @@ 'w1q'::tsquery AS found FROM {table}");
        assert_eq!(rows(&memory, &sql).await, [json!({"n": content.len(), "found": true})], "{table}");
    }
}
