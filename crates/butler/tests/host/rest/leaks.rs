//! Tenant A calls every operation with every id of tenant B. It must not see or change anything.

use serde_json::{Value, json};

use super::Api;

/// A word that occurs in every text of tenant B and nowhere else.
const SECRET: &str = "zanzibar";

async fn tenant_b(api: &Api) -> Vec<String> {
    let call = async |tool: &str, mut arguments: Value| {
        arguments["request_context"] = json!({"tenant_id": "b"});
        api.tool("general", tool, arguments).await
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entity = json!({"canonical_name": SECRET, "entity_type": "place"});
    let entity = text(&call("entity_create", entity).await["entity_id"]);
    let episode = text(&call("memory_store_episode", json!({"content": SECRET, "butler": "general"})).await["id"]);
    let about = |content: &str| {
        json!({"subject": SECRET, "predicate": "is", "content": format!("{SECRET} {content}"), "entity_id": entity,
               "source_episode_id": episode})
    };
    let old = text(&call("memory_store_fact", about("old")).await["id"]);
    let fact = text(&call("memory_store_fact", about("new")).await["id"]);
    let rule = text(&call("memory_store_rule", json!({"content": SECRET})).await["id"]);
    call("memory_mark_harmful", json!({"rule_id": rule, "reason": SECRET})).await;
    call("memory_recall", json!({"topic": SECRET})).await;
    vec![entity, episode, old, fact, rule]
}

/// Everything that tenant B sees, except for values that change with time.
async fn view_of_b(api: &Api) -> String {
    let lists = ["facts?validity=all&", "rules?state=all&", "episodes?", "entities?merged=true&"];
    let paths = lists.iter().map(|list| format!("/api/memory/{list}")).chain(["/api/timeline?".to_owned()]);
    let mut all = Vec::new();
    for path in paths {
        let mut page = api.get(&format!("{path}tenant=b&limit=100")).await["data"].take();
        for item in page.as_array_mut().unwrap() {
            item.as_object_mut().unwrap().remove("effective_confidence");
        }
        all.push(page);
    }
    Value::from(all).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_operation_shows_or_changes_data_of_another_tenant() {
    let api = Api::start().await;
    let ids = tenant_b(&api).await;
    let before = view_of_b(&api).await;
    assert!(before.contains(SECRET), "{before}");
    let document = api.get("/api/openapi.json").await;
    let mut requests = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let operation = operation["operationId"].as_str().unwrap();
            if ["listenEvents", "getOpenApi", "runJob", "createToken", "revokeToken", "createBackup"]
                .contains(&operation)
            {
                continue;
            }
            for id in &ids {
                let url = path.replace("{id}", id).replace("{name}", "general");
                let query = match operation {
                    "recallMemory" | "searchMemory" => format!("?q={SECRET}&tenant=a"),
                    "explainWhyNot" => format!("?q={SECRET}&id={id}&tenant=a"),
                    "listInjections" => format!("?memory_id={id}&tenant=a"),
                    "listFacts" => format!("?entity_id={id}&validity=all&tenant=a"),
                    _ => "?tenant=a".to_owned(),
                };
                let body = match operation {
                    "mergeEntity" => json!({"target_entity_id": ids[0]}),
                    "keepApart" => json!({"other_entity_id": ids[0]}),
                    "editFact" | "editRule" => json!({"content": "stolen"}),
                    "resolveConflict" => json!({"resolution": "forget_both"}),
                    "requeueDeadLetters" => json!({"ids": [id]}),
                    _ => Value::Null,
                };
                let method = match method.as_str() {
                    "get" => "GET",
                    "post" => "POST",
                    "put" => "PUT",
                    _ => "DELETE",
                };
                let answer = api.send(method, &format!("{url}{query}"), body).await;
                let response_text = answer.text().replace(&format!("\"query\":\"{SECRET}\""), "");
                assert!(!response_text.contains(SECRET), "{method} {url} leaks: {response_text}");
                assert!(!path.contains("{id}") || answer.status == 404, "{method} {url}: {response_text}");
                requests += 1;
            }
        }
    }
    assert!(requests > 100, "{requests}");
    assert_eq!(view_of_b(&api).await, before, "nothing was changed");
}
