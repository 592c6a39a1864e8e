//! Tenant A calls every tool with every id of tenant B. It must learn and change nothing.

use butler_domain::TenantId;
use butler_memory::tool::ToolSpec;
use butler_memory::{Caller, CallerTenant};
use butler_testkit::MemoryFixture;
use serde_json::{Map, Value, json};

use crate::{entity, rows};

/// A word in every text of tenant B, and nowhere else.
const SECRET: &str = "zanzibar";
/// One word for each of B's memories. Tenant A never uses them.
const OWN_WORDS: [&str; 4] = ["quokka", "wombat", "numbat", "bilby"];
const TABLES: [&str; 9] = [
    "episodes",
    "facts",
    "rules",
    "memory_links",
    "entities",
    "memory_events",
    "rule_applications",
    "idempotency_keys",
    "injections",
];

/// Creates the data of tenant B: one row of each type, with a history.
async fn tenant_b(memory: &MemoryFixture) -> Vec<Value> {
    let b = json!({ "tenant_id": "b" });
    let call = async |tool: &str, mut arguments: Value| {
        arguments["request_context"] = b.clone();
        memory.call(tool, arguments).await.unwrap()
    };
    let person = entity(memory, "b", SECRET).await;
    let episode =
        call("memory_store_episode", json!({"content": format!("{SECRET} {}", OWN_WORDS[0]), "butler": "general"}))
            .await;
    let about = |content: &str| {
        json!({"subject": SECRET, "predicate": "is", "content": format!("{SECRET} {content}"), "entity_id": person,
               "source_episode_id": episode["id"], "tags": [SECRET], "idempotency_key": format!("{SECRET} {content}")})
    };
    let old = call("memory_store_fact", about(OWN_WORDS[1])).await;
    let fact = call("memory_store_fact", about(OWN_WORDS[2])).await;
    let rule = call("memory_store_rule", json!({"content": format!("{SECRET} {}", OWN_WORDS[3])})).await;
    call("memory_mark_harmful", json!({"rule_id": rule["id"], "reason": SECRET})).await;
    vec![person, episode["id"].clone(), old["id"].clone(), fact["id"].clone(), rule["id"].clone()]
}

async fn of_tenant(memory: &MemoryFixture, tenant: &str) -> String {
    let mut all = String::new();
    for table in TABLES {
        let sql = format!("SELECT to_jsonb(t)::text AS row FROM {table} t WHERE tenant_id = '{tenant}' ORDER BY 1");
        all.push_str(&format!("{table}: {:?}\n", rows(memory, &sql).await));
    }
    all
}

/// Arguments that the schema allows: B's ids, enumeration values, and queries for B's texts.
fn arguments(spec: &ToolSpec, id: &Value, choice: usize) -> Map<String, Value> {
    let properties = spec.input_schema["properties"].as_object().unwrap();
    let mut arguments = Map::new();
    for (name, schema) in properties {
        let required =
            spec.input_schema.get("required").and_then(Value::as_array).is_some_and(|r| r.contains(&json!(name)));
        let value = match name.as_str() {
            "request_context" | "tenant_id" | "idempotency_key" | "dry_run" => continue,
            name if name.ends_with("_id") => id.clone(),
            // Searches look for B's texts.
            "query" | "topic" | "trigger_prompt" | "name" => json!(SECRET),
            _ if !required && choice % 2 == 1 => continue,
            _ => sample(schema, choice),
        };
        arguments.insert(name.clone(), value);
    }
    arguments
}

fn sample(schema: &Value, choice: usize) -> Value {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names[choice % names.len()].clone();
    }
    if let Some(any) = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
        return sample(&any[0], choice);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    };
    match kind.as_str().unwrap_or("string") {
        "number" | "integer" => {
            schema.get("maximum").cloned().filter(|max| max.as_f64() < Some(100.0)).unwrap_or(json!(1))
        }
        "boolean" => json!(true),
        "array" => match schema.get("items") {
            Some(items) if items.get("enum").is_some() => items["enum"].clone(),
            _ => json!(["harmless"]),
        },
        "object" => json!({}),
        _ => json!("harmless"),
    }
}

#[tokio::test]
async fn no_tool_called_by_tenant_a_with_ids_of_tenant_b_reveals_or_changes_anything() {
    let memory = MemoryFixture::new().await;
    let ids = tenant_b(&memory).await;
    memory.clock.advance_days(3.0);
    let before = of_tenant(&memory, "b").await;
    assert!(before.matches(SECRET).count() > 10, "B has something to lose");
    let token = Caller { tenant: CallerTenant::Token(TenantId::new("a").unwrap()), ..Caller::trusted() };
    let mut calls = 0;
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        for id in &ids {
            for choice in 0..6 {
                let arguments = arguments(spec, id, choice);
                let mut trusted = arguments.clone();
                trusted.insert("request_context".to_owned(), json!({"tenant_id": "a"}));
                for (caller, arguments) in [(&token, &arguments), (&Caller::trusted(), &trusted)] {
                    // The answer may repeat A's own query but must not contain anything else of B.
                    let own = arguments.values().any(|value| value.to_string().contains(SECRET));
                    let answer = memory.call_as(caller, spec.name, Value::Object(arguments.clone())).await;
                    calls += 1;
                    let shown = match answer {
                        Ok(answer) => {
                            format!("{} {}", Value::Object(answer.structured), answer.text.unwrap_or_default())
                        }
                        Err(error) => format!("{error:?}"),
                    };
                    let leaked = OWN_WORDS.iter().any(|word| shown.contains(*word));
                    assert!(!leaked && (own || !shown.contains(SECRET)), "{} {arguments:?}: {shown}", spec.name);
                }
            }
        }
        assert_eq!(of_tenant(&memory, "b").await, before, "{} changed what is B's", spec.name);
    }
    assert!(calls >= 9 * 5 * 6 * 2, "{calls} calls");
}

#[tokio::test]
async fn a_token_fixes_the_tenant_and_naming_another_is_an_error() {
    let memory = MemoryFixture::new().await;
    let ids = tenant_b(&memory).await;
    let before = of_tenant(&memory, "b").await;
    let token = Caller { tenant: CallerTenant::Token(TenantId::new("a").unwrap()), ..Caller::trusted() };
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        let mut arguments = arguments(spec, &ids[3], 0);
        arguments.insert("request_context".to_owned(), json!({"tenant_id": "b"}));
        let error = memory.call_as(&token, spec.name, Value::Object(arguments)).await.err().expect(spec.name);
        assert_eq!(error.code.as_str(), "invalid_argument", "{}: {}", spec.name, error.message);
        assert!(!error.message.contains(SECRET));
    }
    assert_eq!(of_tenant(&memory, "b").await, before);
}

#[tokio::test]
async fn tenant_scoped_fact_storage() {
    let memory = MemoryFixture::new().await;
    let arguments = json!({"subject": "u", "predicate": "p", "content": "c"});
    for tenant in ["a", "b"] {
        let caller = Caller { tenant: CallerTenant::Token(TenantId::new(tenant).unwrap()), ..Caller::trusted() };
        let answer = memory.call_as(&caller, "memory_store_fact", arguments.clone()).await.unwrap().structured;
        assert!(answer["superseded_id"].is_null(), "the same key in another tenant is another key");
    }
    let stored = rows(&memory, "SELECT tenant_id, validity FROM facts ORDER BY 1").await;
    assert_eq!(
        stored,
        [json!({"tenant_id": "a", "validity": "active"}), json!({"tenant_id": "b", "validity": "active"})]
    );
}
