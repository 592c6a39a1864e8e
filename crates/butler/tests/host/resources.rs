//! MCP resources, prompts and completion over HTTP.

use serde_json::{Value, json};

use crate::program::{Mcp, Serving};

fn prompt(mcp: &Mcp, name: &str, arguments: Value) -> String {
    let got = mcp.rpc("prompts/get", json!({"name": name, "arguments": arguments}));
    got["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{got}")).to_owned()
}

#[test]
fn resources_prompts_and_completion_work() {
    let dir = tempfile::tempdir().unwrap();
    let server = Serving::on(&dir.path().join("data"));
    let mcp = server.mcp();
    let id = mcp.store_episode("Ann moved to Lisbon").unwrap();
    mcp.call("memory_store_fact", json!({"subject": "Ann", "predicate": "lives in", "content": "Lisbon"}));

    let listed = mcp.rpc("resources/list", json!({}));
    let uris: Vec<&str> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["memory://stats", "memory://context/general"]);
    let templates = mcp.rpc("resources/templates/list", json!({}));
    let templates = templates["result"]["resourceTemplates"].as_array().unwrap().clone();
    let templates: Vec<&str> = templates.iter().map(|it| it["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(templates, ["memory://context/{butler}", "memory://{type}/{id}"]);

    let read = |uri: &str| mcp.rpc("resources/read", json!({"uri": uri}));
    let text = |uri: &str| read(uri)["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    let stats: Value = serde_json::from_str(&text("memory://stats")).unwrap();
    assert_eq!(stats["episodes"]["total"], 1, "{stats}");
    assert!(text("memory://context/general").contains("Lisbon"));
    let one: Value = serde_json::from_str(&text(&format!("memory://episode/{id}"))).unwrap();
    assert_eq!(one["content"], "Ann moved to Lisbon");
    for uri in ["memory://nothing", "memory://episode/00000000-0000-0000-0000-000000000001", "file:///etc/passwd"] {
        assert_eq!(read(uri)["error"]["code"], -32002, "{uri}: {}", read(uri));
    }
    assert_eq!(read("memory://fact/no-uuid")["error"]["code"], -32602);

    let prompts = mcp.rpc("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> = prompts.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recall", "remember", "review-fading"]);
    assert!(prompt(&mcp, "recall", json!({"topic": "Lisbon"})).ends_with("Topic: Lisbon"));
    assert!(prompt(&mcp, "remember", json!({"what": "I like tea"})).contains("memory_store_fact"));
    assert!(prompt(&mcp, "review-fading", json!({})).contains("No fact is fading"));
    assert_eq!(mcp.rpc("prompts/get", json!({"name": "recall"}))["error"]["code"], -32602);

    let complete = |reference: Value, name: &str, value: &str| {
        let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
        mcp.rpc("completion/complete", params)["result"]["completion"]["values"].clone()
    };
    let one = json!({"type": "ref/resource", "uri": "memory://{type}/{id}"});
    assert_eq!(complete(one, "type", "f"), json!(["fact"]));
    let context = json!({"type": "ref/resource", "uri": "memory://context/{butler}"});
    assert_eq!(complete(context, "butler", ""), json!(["general"]));
}
