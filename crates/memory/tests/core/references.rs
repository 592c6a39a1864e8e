//! The end of an id as a reference to a memory.

use butler_memory::MemoryConfig;
use butler_memory::tool::ErrorCode;
use butler_testkit::MemoryFixture;
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::{episode, fact, get, refused, rule};

async fn with_references() -> MemoryFixture {
    let mut config = MemoryConfig::default();
    config.context.references = true;
    MemoryFixture::with_config(config).await
}

async fn block(memory: &MemoryFixture) -> String {
    let arguments = json!({"trigger_prompt": "tea", "butler": "general"});
    memory.call("memory_context", arguments).await.unwrap()["context"].as_str().unwrap().to_owned()
}

/// The references of a block, by line.
fn references(block: &str) -> Vec<&str> {
    let lines = block.lines().filter(|line| line.starts_with("- "));
    lines.map(|line| line.rsplit_once(" [").unwrap().1.strip_suffix(']').unwrap()).collect()
}

/// Stores a rule with a chosen id.
async fn with_id(memory: &MemoryFixture, content: &str, tenant: &str, id: &str) {
    let arguments = json!({"content": content, "request_context": {"tenant_id": tenant}});
    let stored = memory.call("memory_store_rule", arguments).await.unwrap()["id"].as_str().unwrap().to_owned();
    let sql = format!("UPDATE rules SET id = '{id}' WHERE id = '{stored}'");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut memory.db.connect().await).await.unwrap();
}

#[tokio::test]
async fn a_line_ends_with_a_reference_that_the_tools_accept() {
    let memory = with_references().await;
    let tea = fact(&memory, "Anna", "drinks", "green tea").await;
    let ask = rule(&memory, "Ask before making tea").await;
    let said = episode(&memory, "Anna asked for tea").await;
    let block = block(&memory).await;
    let shown = references(&block);
    for (reference, id) in shown.iter().zip([&tea, &ask, &said]) {
        assert!(reference.len() >= 4 && id.as_str().unwrap().ends_with(reference), "{id} {reference}");
    }
    assert_eq!(get(&memory, "fact", &json!(shown[0])).await["id"], tea);
    assert_eq!(get(&memory, "episode", &json!(format!("[{}]", shown[2]))).await["id"], said, "with its brackets");
    let marked = memory.call("memory_mark_helpful", json!({"rule_id": shown[1]})).await.unwrap();
    assert_eq!((&marked["id"], &marked["success_count"]), (&ask, &json!(1)));
    let marked = memory.call("memory_mark_harmful", json!({"rule_id": shown[1].to_uppercase()})).await.unwrap();
    assert_eq!((&marked["id"], &marked["harmful_count"]), (&ask, &json!(1)));
    let error = refused(&memory, "memory_get", json!({"memory_type": "rule", "memory_id": shown[0]})).await;
    assert_eq!(error.code, ErrorCode::NotFound, "a fact is no rule");
}

#[tokio::test]
async fn without_the_setting_lines_are_as_specified() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "Anna", "drinks", "green tea").await;
    let block = block(&memory).await;
    assert_eq!(block, "# Memory Context\n\n## Key Facts\n- [Anna] [drinks]: green tea (confidence: 1.00)\n");
}

#[tokio::test]
async fn a_shared_end_is_never_guessed() {
    let memory = with_references().await;
    let ids = ["00000000-0000-7000-8000-00000001beef", "00000000-0000-7000-8000-00000002beef"];
    with_id(&memory, "Ask before making tea", "default", ids[0]).await;
    with_id(&memory, "Serve tea hot", "default", ids[1]).await;
    with_id(&memory, "Serve tea cold", "other", "00000000-0000-7000-8000-00000003cafe").await;
    let error = refused(&memory, "memory_mark_helpful", json!({"rule_id": "beef"})).await;
    assert_eq!(error.code, ErrorCode::InvalidArgument);
    assert!(ids.iter().all(|id| error.message.contains(id)), "{}", error.message);
    assert_eq!(get(&memory, "rule", &json!("1beef")).await["id"], ids[0]);
    let error = refused(&memory, "memory_get", json!({"memory_type": "rule", "memory_id": "cafe"})).await;
    assert_eq!(error.code, ErrorCode::NotFound, "another tenant's rule does not exist");
    for wrong in ["eef", "tea!", ""] {
        let error = refused(&memory, "memory_get", json!({"memory_type": "rule", "memory_id": wrong})).await;
        assert_eq!(error.code, ErrorCode::InvalidArgument, "{wrong}");
    }
    let block = block(&memory).await;
    let mut shown = references(&block);
    shown.sort_unstable();
    assert_eq!(shown, ["1beef", "2beef"], "four characters would not do");
}

#[tokio::test]
async fn ids_with_the_same_last_eight_characters_are_shown_whole() {
    let memory = with_references().await;
    let ids = ["00000000-0000-7000-8000-0001deadbeef", "00000000-0000-7000-8000-0002deadbeef"];
    with_id(&memory, "Ask before making tea", "default", ids[0]).await;
    with_id(&memory, "Serve tea hot", "default", ids[1]).await;
    let block = block(&memory).await;
    let mut shown = references(&block);
    shown.sort_unstable();
    assert_eq!(shown, ids);
    assert_eq!(get(&memory, "rule", &json!("1deadbeef")).await["id"], ids[0], "a longer end is unique");
}
