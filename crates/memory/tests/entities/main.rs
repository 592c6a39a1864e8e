//! The entity tools: registry, name resolution, merging, tenant isolation and index use.

mod bad_input;
mod concurrency;
mod duplicates;
mod forgetting;
mod hops;
mod identity;
mod indexes;
mod merging;
mod registry;
mod relations;
mod resolution;
mod tenants;
mod unmerging;

use butler_memory::tool::ToolError;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// Reads the database directly as the owner, who sees all tenants.
async fn rows(memory: &MemoryFixture, sql: &str) -> Vec<Value> {
    let wrapped = format!("SELECT to_jsonb(x) FROM ({sql}) x");
    sqlx::query_scalar(AssertSqlSafe(wrapped)).fetch_all(&mut memory.db.connect().await).await.expect(sql)
}

async fn one(memory: &MemoryFixture, sql: &str) -> Value {
    rows(memory, sql).await.into_iter().next().unwrap_or_else(|| panic!("no row: {sql}"))
}

/// All rows that an entity tool could write, as one text.
async fn everything(memory: &MemoryFixture) -> String {
    let mut all = String::new();
    for table in ["entities", "facts", "memory_links", "memory_events"] {
        all.push_str(&format!(
            "{table}: {:?}\n",
            rows(memory, &format!("SELECT to_jsonb(t) FROM {table} t ORDER BY 1")).await
        ));
    }
    all
}

fn id(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("an id, not {value}")).to_owned()
}

async fn create(memory: &MemoryFixture, arguments: Value) -> String {
    id(&memory.call("entity_create", arguments).await.expect("an entity")["entity_id"])
}

async fn person(memory: &MemoryFixture, name: &str, aliases: &[&str]) -> String {
    create(memory, json!({ "canonical_name": name, "entity_type": "person", "aliases": aliases })).await
}

async fn get(memory: &MemoryFixture, entity: &str) -> Value {
    memory.call("entity_get", json!({ "entity_id": entity })).await.expect("an entity")
}

async fn resolve(memory: &MemoryFixture, arguments: Value) -> Vec<Value> {
    let answer = memory.call("entity_resolve", arguments).await.expect("candidates");
    answer["candidates"].as_array().expect("a list").clone()
}

/// The canonical name, tier and score of each candidate.
async fn ranking(memory: &MemoryFixture, arguments: Value) -> Vec<(String, String, f64)> {
    let line = |c: &Value| (id(&c["canonical_name"]), id(&c["name_match"]), c["score"].as_f64().expect("a score"));
    resolve(memory, arguments).await.iter().map(line).collect()
}

async fn merge(memory: &MemoryFixture, source: &str, target: &str) -> Result<Value, ToolError> {
    memory.call("entity_merge", json!({ "source_entity_id": source, "target_entity_id": target })).await
}

async fn try_fact(memory: &MemoryFixture, entity: &str, predicate: &str, content: &str) -> Result<String, ToolError> {
    let arguments = json!({ "subject": "somebody", "predicate": predicate, "content": content, "entity_id": entity });
    memory.call("memory_store_fact", arguments).await.map(|answer| id(&answer["id"]))
}

async fn fact(memory: &MemoryFixture, entity: &str, predicate: &str, content: &str) -> String {
    try_fact(memory, entity, predicate, content).await.expect("a fact")
}

async fn set_fact(memory: &MemoryFixture, fact: &str, change: &str) {
    memory.db.execute(&format!("UPDATE facts SET {change} WHERE id = '{fact}'")).await;
}

async fn stored_fact(memory: &MemoryFixture, fact: &str) -> Value {
    let columns = "validity, entity_id, supersedes_id, confidence, content";
    one(memory, &format!("SELECT {columns} FROM facts WHERE id = '{fact}'")).await
}
