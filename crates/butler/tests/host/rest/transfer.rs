//! Export and import as files, backups, and weights of the recall lab.

use serde_json::{Value, json};

use super::Api;
use crate::program::request;

/// As the dashboard sends a file.
const FILE: &[(&str, &str)] = &[("Content-Type", "application/octet-stream"), ("Sec-Fetch-Site", "same-origin")];

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_downloaded_and_imported_by_another_butler() {
    let api = Api::with(&["general", "other"]).await;
    api.fact("Ada", "likes", "looms").await;
    api.rule("Ask twice").await;
    let file = api.answer("/api/export?butler=general").await;
    assert_eq!(file.status, 200, "{}", file.text());
    let text = file.text();
    assert!(text.lines().next().unwrap().contains("butler-memory") && text.contains("looms"), "{text}");
    let checked = api.ask("POST", "/api/import?butler=other&dry_run=true", FILE, text.clone()).await;
    assert_eq!(checked.json()["data"]["kinds"]["fact"]["created"], 1, "{}", checked.text());
    assert_eq!(api.get("/api/memory/facts?butler=other").await["meta"]["total"], 0, "a check writes nothing");
    let imported = api.ask("POST", "/api/import?butler=other", FILE, text.clone()).await;
    assert_eq!(imported.json()["data"]["committed"], true, "{}", imported.text());
    assert_eq!(api.get("/api/memory/facts?butler=other").await["data"][0]["content"], "looms");
    let again = api.ask("POST", "/api/import?butler=other", FILE, text.clone()).await;
    assert_eq!(again.json()["data"]["kinds"]["fact"]["existing"], 1, "importing twice changes nothing");
    let agent = api.ask("POST", "/api/import?butler=other", &FILE[..1], text.clone()).await;
    assert_eq!(agent.status, 403, "a program without a token is an agent, and a file may claim to be a person's");
    let form = api
        .ask("POST", "/api/import", &[("Content-Type", "text/plain"), ("Sec-Fetch-Site", "same-origin")], text)
        .await;
    assert_eq!(form.status, 415, "a form of another site cannot import");
    let broken = api.ask("POST", "/api/import?butler=other", FILE, "{\"format\":\"butler-memory\"}".to_owned()).await;
    assert_eq!(broken.status, 422, "{}", broken.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn other_weights_change_the_order_of_a_recall() {
    let api = Api::start().await;
    for (predicate, content, importance) in [("likes", "green tea", 1), ("drinks", "tea with the neighbours", 10)] {
        let fact = json!({"subject": "Ada", "predicate": predicate, "content": content, "importance": importance});
        api.tool("general", "memory_store_fact", fact).await;
    }
    let first = async |weights: &str| {
        let found = api.get(&format!("/api/memory/recall?q=green%20tea&butler=general&weights={weights}")).await;
        found["data"]["results"][0]["content"].clone()
    };
    assert_eq!(first("1,0,0,0").await, "green tea");
    assert_eq!(first("0,1,0,0").await, "tea with the neighbours");
    for bad in ["1,2,3", "a,b,c,d", "0,0,0,0", "1,-1,0,0"] {
        assert_eq!(api.answer(&format!("/api/memory/recall?q=tea&weights={bad}")).await.status, 400, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_an_llm_says_so() {
    let api = Api::start().await;
    let answer = api.send("POST", "/api/llm-test", Value::Null).await;
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (409, Some("invalid_state")));
    assert_eq!(api.get("/api/backups").await["meta"]["total"], 0);
    let flags = api.get("/api/server").await["data"]["cli_flags"].as_str().unwrap().to_owned();
    assert!(flags.starts_with(" --data-dir '/") && flags.contains(" --roster '/"), "{flags}");
    // A token belongs to one tenant, and a backup holds all of them.
    let admin = super::tokens::made(&api, "default", None, &["read", "write", "admin"]).await.secret;
    let reader = super::tokens::made(&api, "default", None, &["read"]).await.secret;
    for (method, path, token) in [
        ("GET", "/api/backups", &admin),
        ("POST", "/api/backups", &admin),
        ("POST", "/api/llm-test", &reader),
        ("GET", "/api/export", &reader),
        ("POST", "/api/import", &reader),
    ] {
        let (address, header) = (api.address, format!("Bearer {token}"));
        let answer = tokio::task::spawn_blocking(move || {
            request(address, method, path, &[("Authorization", header.as_str())], b"")
        });
        assert_eq!(answer.await.unwrap().status, 403, "{method} {path}");
    }
}
