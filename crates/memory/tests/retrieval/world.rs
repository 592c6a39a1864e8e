//! Helpers shared by the retrieval tests.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use uuid::Uuid;

pub async fn fact(world: &MemoryFixture, subject: &str, predicate: &str, content: &str) -> Uuid {
    fact_with(world, subject, predicate, content, json!({})).await
}

pub async fn fact_with(world: &MemoryFixture, subject: &str, predicate: &str, content: &str, more: Value) -> Uuid {
    let mut arguments = json!({"subject": subject, "predicate": predicate, "content": content});
    merge(&mut arguments, more);
    id(&world.call("memory_store_fact", arguments).await.expect("a fact"))
}

pub async fn rule(world: &MemoryFixture, content: &str, more: Value) -> Uuid {
    let mut arguments = json!({"content": content});
    merge(&mut arguments, more);
    id(&world.call("memory_store_rule", arguments).await.expect("a rule"))
}

pub async fn episode(world: &MemoryFixture, butler: &str, content: &str, more: Value) -> Uuid {
    let mut arguments = json!({"content": content, "butler": butler});
    merge(&mut arguments, more);
    id(&world.call("memory_store_episode", arguments).await.expect("an episode"))
}

pub async fn results(world: &MemoryFixture, tool: &str, arguments: Value) -> Vec<Value> {
    let answer = world.call(tool, arguments).await.expect("an answer");
    answer["results"].as_array().expect("results").clone()
}

pub fn ids(results: &[Value]) -> Vec<Uuid> {
    results.iter().map(id).collect()
}

pub fn id(value: &Value) -> Uuid {
    value["id"].as_str().and_then(|id| id.parse().ok()).expect("an id")
}

pub fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}
