//! Checks every operation against the OpenAPI document.

use serde_json::{Value, json};

use super::{Api, id};

/// Validates a value against a schema of the document. It supports the part of JSON Schema that the document uses.
fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let found = document.pointer(target.trim_start_matches('#')).ok_or(format!("{at}: no {target}"))?;
        return check(document, found, value, at);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(parts) = schema.get(key).and_then(Value::as_array) {
            let results: Vec<_> = parts.iter().map(|part| check(document, part, value, at)).collect();
            if results.iter().all(Result::is_err) {
                return Err(format!("{at}: none of {key}: {results:?}"));
            }
        }
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array)
        && !names.contains(value)
    {
        return Err(format!("{at}: {value} is none of {names:?}"));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return Err(format!("{at}: {value} is not {}", schema["const"]));
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !kinds.iter().any(is) {
        return Err(format!("{at}: {value} is not {kinds:?}"));
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_array()) {
        for (number, item) in list.iter().enumerate() {
            check(document, items, item, &format!("{at}[{number}]"))?;
        }
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(value) = object.get(name) {
            check(document, property, value, &format!("{at}.{name}"))?;
        }
    }
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap()) {
            return Err(format!("{at}: {name} is missing"));
        }
    }
    // Generated clients would not see a field that the document does not describe.
    if let (Some(known), None) = (properties, schema.get("additionalProperties"))
        && let Some(unknown) = object.keys().find(|name| !known.contains_key(*name))
    {
        return Err(format!("{at}: {unknown} is not described"));
    }
    Ok(())
}

/// Stores one memory of each type, with a history.
async fn fill(api: &Api) -> [String; 5] {
    let entity = json!({"canonical_name": "Ada", "entity_type": "person", "aliases": ["Augusta"]});
    let entity = api.tool("general", "entity_create", entity).await["entity_id"].as_str().unwrap().to_owned();
    let episode = api.episode("Ada said she likes engines").await;
    let fact = |content: &str| {
        json!({"subject": "Ada", "predicate": "likes", "content": content, "entity_id": entity, "tags": ["a"],
               "source_episode_id": episode, "permanence": "volatile"})
    };
    api.tool("general", "memory_store_fact", fact("looms")).await;
    let fact = id(&api.tool("general", "memory_store_fact", fact("engines")).await);
    let rule = api.rule("Ask twice").await;
    api.tool("general", "memory_mark_helpful", json!({"rule_id": rule})).await;
    api.tool("general", "memory_mark_harmful", json!({"rule_id": rule, "reason": "slow"})).await;
    api.tool("general", "memory_recall", json!({"topic": "Ada"})).await;
    let other = json!({"canonical_name": "Byron", "entity_type": "person"});
    let other = api.tool("general", "entity_create", other).await["entity_id"].as_str().unwrap().to_owned();
    [entity, episode, fact, rule, other]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_matches_the_openapi_document() {
    let api = Api::start().await;
    let [entity, episode, fact, rule, other] = fill(&api).await;
    let document = api.get("/api/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut checked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(schema) = operation.pointer("/responses/200/content/application~1json/schema") else { continue };
            assert!(operation["operationId"].is_string(), "{method} {path}");
            let about = match path {
                path if path.contains("/facts/") => &fact,
                path if path.contains("/rules/") => &rule,
                path if path.contains("/episodes/") => &episode,
                path if path.ends_with("/unmerge") => {
                    let body = json!({"target_entity_id": entity});
                    api.done("POST", &format!("/api/memory/entities/{other}/merge"), body).await;
                    &other
                }
                _ => &entity,
            };
            let url = path.replace("{id}", about).replace("{name}", "general").replace("{job}", "decay_sweep");
            let why_not = format!("?q=Ada&id={rule}");
            let (query, body) = match operation["operationId"].as_str().unwrap() {
                "recallMemory" | "searchMemory" => ("?q=Ada", Value::Null),
                "explainWhyNot" => (why_not.as_str(), Value::Null),
                "mergeEntity" => ("?preview=true", json!({"target_entity_id": other})),
                "keepApart" => ("", json!({"other_entity_id": other})),
                "editFact" => ("", json!({"content": "steam engines"})),
                "editRule" => ("", json!({"content": "Ask three times"})),
                "editEntity" => ("", json!({"aliases": ["Countess"]})),
                "createToken" | "revokeToken" | "rotateToken" => continue,
                // There is no LLM, and a backup takes long; their own tests cover them.
                "testLlm" | "createBackup" | "importMemory" => continue,
                // The tests of OAuth cover it.
                "revokeGrant" => continue,
                // They need something to decide about; the tests of trust cover them.
                "resolveConflict" | "reopenConflict" | "approveProposal" | "rejectProposal" | "undoDecision"
                | "allowAgain" => continue,
                _ => ("", Value::Null),
            };
            let method = match method.as_str() {
                "get" => "GET",
                "post" => "POST",
                "put" => "PUT",
                _ => "DELETE",
            };
            // Undo what an earlier operation changed.
            if url.contains("/facts/") || url.contains("/rules/") {
                let kind = if url.contains("/facts/") { "facts" } else { "rules" };
                api.send("POST", &format!("/api/memory/{kind}/{about}/restore"), Value::Null).await;
            }
            if let Some(memory) = url.strip_suffix("/undo") {
                api.done("POST", &format!("{memory}/confirm"), Value::Null).await;
            }
            let answer = api.send(method, &format!("{url}{query}"), body).await;
            assert_eq!(answer.status, 200, "{method} {url}: {}", answer.text());
            if let Err(problem) = check(&document, schema, &answer.json(), "answer") {
                panic!("{method} {url}: {problem}");
            }
            checked += 1;
        }
    }
    assert!(checked >= 30, "{checked} operations");
    let error = document.pointer("/components/schemas/ErrorBody").unwrap();
    for path in
        ["/api/memory/facts/00000000-0000-0000-0000-000000000000", "/api/memory/rules/none", "/api/memory/facts?x=1"]
    {
        let answer = api.answer(path).await;
        assert!([400, 404].contains(&answer.status), "{path}");
        check(&document, error, &answer.json(), "error").unwrap();
    }
}
