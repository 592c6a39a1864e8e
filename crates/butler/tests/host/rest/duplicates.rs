//! Entities whose names are alike, until a person merges them or keeps them apart.

use serde_json::{Value, json};

use super::Api;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_duplicates_says_that_it_compared_only_a_part_of_the_names() {
    let api = Api::start().await;
    let pairs = async || api.get("/api/memory/duplicates").await["meta"]["incomplete"].clone();
    entity(&api, "Project Zebra", "other").await;
    assert_eq!(pairs().await, Value::Null, "all were compared");
    for part in 0..4 {
        let aliases: Vec<String> = (0..60).map(|number| format!("Project {part} {number}")).collect();
        let arguments = json!({"canonical_name": format!("Plan {part}"), "entity_type": "other", "aliases": aliases});
        api.tool("general", "entity_create", arguments).await;
    }
    assert_eq!(pairs().await, json!(true), "240 names begin with the same letters");
}

async fn entity(api: &Api, name: &str, kind: &str) -> String {
    let arguments = json!({"canonical_name": name, "entity_type": kind});
    api.tool("general", "entity_create", arguments).await["entity_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn alike_names_are_listed_until_they_are_merged_or_kept_apart() {
    let api = Api::start().await;
    let brenner = entity(&api, "Katharina Brenner", "person").await;
    let misspelled = entity(&api, "Katarina Brenner", "person").await;
    entity(&api, "Katharina Brenner", "organization").await;
    entity(&api, "Tom Miller", "person").await;
    let facts = json!({"subject": "Katarina Brenner", "predicate": "likes", "content": "tea", "entity_id": misspelled});
    api.tool("general", "memory_store_fact", facts).await;
    let pairs = async || api.get("/api/memory/duplicates").await["data"].as_array().unwrap().clone();
    let listed = pairs().await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (&listed[0]["a"]["id"], &listed[0]["a"]["facts"]),
        (&json!(misspelled), &json!(1)),
        "more is known of it"
    );
    assert_eq!((&listed[0]["b"]["id"], &listed[0]["home"]), (&json!(brenner), &json!("general")));
    let profile = async |id: &str| api.get(&format!("/api/memory/entities/{id}")).await["data"]["duplicates"].clone();
    assert_eq!(profile(&brenner).await[0]["id"], json!(misspelled));

    let apart = async |apart: bool| {
        let body = json!({"other_entity_id": misspelled, "apart": apart});
        api.done("POST", &format!("/api/memory/entities/{brenner}/apart"), body).await
    };
    apart(true).await;
    assert_eq!(pairs().await, Vec::<Value>::new());
    for id in [&brenner, &misspelled] {
        assert_eq!(profile(id).await, json!([]), "neither profile lists the other");
    }
    apart(false).await;
    assert_eq!(pairs().await, listed);
    let body = json!({"target_entity_id": misspelled});
    api.done("POST", &format!("/api/memory/entities/{brenner}/merge"), body).await;
    assert_eq!(pairs().await, Vec::<Value>::new());
    let unknown = json!({"other_entity_id": "00000000-0000-0000-0000-000000000000"});
    let answer = api.send("POST", &format!("/api/memory/entities/{misspelled}/apart"), unknown).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
}
