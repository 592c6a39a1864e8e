//! The core tools: storing, superseding, confirming, forgetting, feedback, decay, tenants and audit.

#![expect(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod asking;
mod bad_input;
mod clock;
mod concurrency;
mod confirm_and_forget;
mod conflicts;
mod events;
mod facts;
mod gauntlet;
mod idempotency;
mod injections;
mod leaks;
mod links;
mod named_events;
mod poison;
mod reembed;
mod references;
mod rejected;
mod removed_dates;
mod rounds;
mod rules;
mod sweep;
mod text;
mod time;
mod trust;
mod undone;
mod why_not;
mod words;

use butler_memory::tool::ToolError;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// Reads the database directly as the owner, who sees all tenants.
async fn rows(memory: &MemoryFixture, sql: &str) -> Vec<Value> {
    let wrapped = format!("SELECT to_jsonb(x) FROM ({sql}) x");
    sqlx::query_scalar(AssertSqlSafe(wrapped)).fetch_all(&mut memory.db.connect().await).await.expect(sql)
}

async fn row(memory: &MemoryFixture, table: &str, id: &Value) -> Value {
    let id = id.as_str().expect("an id");
    let columns = "to_jsonb(t) - 'embedding' - 'search_vector'";
    let found = rows(memory, &format!("SELECT {columns} AS row FROM {table} t WHERE id = '{id}'")).await;
    found.into_iter().next().unwrap_or_else(|| panic!("no row {id} in {table}"))["row"].clone()
}

async fn count(memory: &MemoryFixture, sql: &str) -> i64 {
    rows(memory, &format!("SELECT count(*) AS n FROM {sql}")).await[0]["n"].as_i64().expect("a count")
}

/// The event types of one memory in the order in which they were written.
async fn events_of(memory: &MemoryFixture, id: &Value) -> Vec<String> {
    let id = id.as_str().expect("an id");
    let sql = format!("SELECT event_type FROM memory_events WHERE memory_id = '{id}' ORDER BY ctid");
    rows(memory, &sql).await.iter().map(|row| row["event_type"].as_str().expect("a type").to_owned()).collect()
}

/// The contents of all tables as one text. If two are equal, nothing was written in between.
async fn everything(memory: &MemoryFixture) -> String {
    let tables = [
        "episodes",
        "facts",
        "rules",
        "memory_links",
        "entities",
        "memory_events",
        "rule_applications",
        "embedding_versions",
        "idempotency_keys",
        "injections",
    ];
    let mut all = String::new();
    for table in tables {
        let found = rows(memory, &format!("SELECT to_jsonb(t)::text AS row FROM {table} t ORDER BY 1")).await;
        all.push_str(&format!("{table}: {found:?}\n"));
    }
    all
}

/// Checks each expected field, and treats 5 and 5.0 as equal.
fn assert_fields(stored: &Value, expected: &Value) {
    for (key, value) in expected.as_object().expect("fields") {
        let same = match (stored[key].as_f64(), value.as_f64()) {
            (Some(a), Some(b)) => a == b,
            _ => &stored[key] == value,
        };
        assert!(same, "{key} is {}, not {value}", stored[key]);
    }
}

async fn fact(memory: &MemoryFixture, subject: &str, predicate: &str, content: &str) -> Value {
    store_fact(memory, json!({ "subject": subject, "predicate": predicate, "content": content })).await["id"].clone()
}

async fn store_fact(memory: &MemoryFixture, arguments: Value) -> Value {
    memory.call("memory_store_fact", arguments).await.expect("a fact")
}

async fn rule(memory: &MemoryFixture, content: &str) -> Value {
    memory.call("memory_store_rule", json!({ "content": content })).await.expect("a rule")["id"].clone()
}

async fn episode(memory: &MemoryFixture, content: &str) -> Value {
    let arguments = json!({ "content": content, "butler": "general" });
    memory.call("memory_store_episode", arguments).await.expect("an episode")["id"].clone()
}

async fn get(memory: &MemoryFixture, memory_type: &str, id: &Value) -> Value {
    memory.call("memory_get", json!({ "memory_type": memory_type, "memory_id": id })).await.expect("a memory")
}

async fn refused(memory: &MemoryFixture, tool: &str, arguments: Value) -> ToolError {
    match memory.call(tool, arguments.clone()).await {
        Ok(answer) => panic!("{tool} {arguments} was accepted: {answer}"),
        Err(error) => error,
    }
}

/// Inserts an entity directly into the database.
async fn entity(memory: &MemoryFixture, tenant: &str, name: &str) -> Value {
    let sql = format!(
        "INSERT INTO entities (tenant_id, canonical_name, entity_type) VALUES ('{tenant}', '{name}', 'person') RETURNING id"
    );
    let id: uuid::Uuid =
        sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut memory.db.connect().await).await.expect("an entity");
    json!(id.to_string())
}
