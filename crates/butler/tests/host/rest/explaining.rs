//! What agents were given, and why they were not given something.

use serde_json::{Value, json};

use super::Api;

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_session_and_the_readers_of_a_memory_are_listed() {
    let api = Api::start().await;
    let tea = api.fact("Anna", "drinks", "green tea").await;
    let recall = |session: &str| json!({"topic": "tea", "request_context": {"session_id": session, "request_id": "r"}});
    for session in ["s-1", "s-2", "s-2"] {
        api.tool("general", "memory_recall", recall(session)).await;
    }
    let of = async |query: &str| api.get(&format!("/api/memory/injections?{query}")).await;
    let calls = of("session_id=s-2").await;
    assert_eq!(calls["meta"]["total"], 2);
    let call = &calls["data"][0];
    assert_eq!(
        (&call["kind"], &call["session_id"], &call["home"]),
        (&json!("recall"), &json!("s-2"), &json!("general"))
    );
    assert_eq!(call["memories"][0]["id"], json!(tea));
    assert_eq!(call["memories"][0]["label"], "Anna drinks: green tea");
    let readers = of(&format!("memory_id={tea}&limit=2")).await;
    let first: Vec<&Value> = readers["data"].as_array().unwrap().iter().collect();
    assert_eq!((first.len(), &readers["meta"]["total"]), (2, &json!(3)));
    let cursor = readers["meta"]["next_cursor"].as_str().unwrap();
    let rest = of(&format!("memory_id={tea}&limit=2&cursor={cursor}")).await;
    assert_eq!(rest["data"].as_array().unwrap().len(), 1);
    assert_eq!(of("session_id=s-2&tenant=other").await["meta"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_recall_does_not_return_a_memory() {
    let api = Api::start().await;
    let old = api.fact("Anna", "drinks", "black tea").await;
    let new = api.fact("Anna", "drinks", "green tea").await;
    let ask = async |more: String| api.get(&format!("/api/memory/why-not?q=tea&{more}")).await["data"].clone();
    let told = ask(format!("type=fact&id={old}")).await;
    assert_eq!((&told["served"], &told["reasons"][0]["code"]), (&json!(false), &json!("superseded")));
    assert!(told["reasons"][0]["message"].as_str().unwrap().contains(&new), "{told}");
    let told = ask(format!("id={new}&tool=context")).await;
    assert_eq!((&told["served"], &told["memory_type"], &told["rank"]), (&json!(true), &json!("fact"), &json!(1)));
    for wrong in [format!("id={new}&type=rule"), format!("id={new}&tenant=other")] {
        let answer = api.answer(&format!("/api/memory/why-not?q=tea&{wrong}")).await;
        assert_eq!(answer.status, 404, "{}", answer.text());
    }
}
