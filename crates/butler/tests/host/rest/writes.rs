//! Edits, confirmations, deletions and restores through the REST API.

use serde_json::{Value, json};

use super::{Api, id};

#[tokio::test(flavor = "multi_thread")]
async fn sections_9_3_and_9_13_fact_edit_creates_supersession_and_undo_reverts_it() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "likes", "looms").await;
    let path = format!("/api/memory/facts/{fact}");
    let edited = api.done("PUT", &path, json!({"content": "engines", "importance": 8})).await;
    assert_eq!(edited["superseded_id"], json!(fact));
    let new = id(&edited);
    assert_ne!(new, fact);
    assert_eq!(api.get(&path).await["data"]["validity"], "superseded");
    let current = api.get(&format!("/api/memory/facts/{new}")).await["data"].clone();
    assert_eq!(
        (&current["content"], &current["importance"], &current["supersedes_id"]),
        (&json!("engines"), &json!(8.0), &json!(fact))
    );
    assert_eq!(current["events"][0]["actor"], "dashboard");
    let again = api.send("PUT", &path, json!({"content": "x"})).await;
    assert_eq!((again.status, again.json()["error"]["code"].as_str()), (409, Some("invalid_state")));
    assert!(again.json()["error"]["hint"].as_str().unwrap().contains(&new), "the hint names the current version");
    for (body, status) in [
        (json!({}), 422),
        (json!({"content": "  "}), 422),
        (json!({"contnt": "x"}), 422),
        (json!({"subject": " ", "content": "x"}), 422),
        (json!({"importance": 11}), 422),
    ] {
        let refused = api.send("PUT", &format!("/api/memory/facts/{new}"), body.clone()).await;
        assert_eq!(refused.status, status, "{body}: {}", refused.text());
    }
    let undone = api.done("POST", &format!("{path}/restore"), Value::Null).await;
    assert_eq!((&undone["changed"], &undone["retracted_id"]), (&json!(true), &json!(new)));
    assert_eq!(api.get(&path).await["data"]["validity"], "active");
    assert_eq!(api.get(&format!("/api/memory/facts/{new}")).await["data"]["validity"], "retracted");
}

#[tokio::test(flavor = "multi_thread")]
async fn sections_9_3_and_9_13_fact_delete_sets_validity_to_retracted_and_restore_undoes_it() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "studies", "looms").await;
    let path = format!("/api/memory/facts/{fact}");
    assert_eq!(api.done("DELETE", &path, Value::Null).await["changed"], true);
    assert_eq!(api.done("DELETE", &path, Value::Null).await["changed"], false, "deleting twice is not an error");
    assert_eq!(api.get(&path).await["data"]["validity"], "retracted");
    assert_eq!(api.get("/api/memory/facts").await["meta"]["total"], 0);
    assert_eq!(api.get("/api/memory/facts?validity=forgotten").await["data"][0]["id"], fact.as_str());
    let refused = api.send("POST", &format!("{path}/confirm"), Value::Null).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (409, Some("invalid_state")));
    assert_eq!(api.done("POST", &format!("{path}/restore"), Value::Null).await["changed"], true);
    assert_eq!(api.get("/api/memory/facts").await["meta"]["total"], 1);
    assert_eq!(api.done("POST", &format!("{path}/confirm"), Value::Null).await["effective_confidence"], 1.0);
    // Another active fact has the same key.
    api.done("DELETE", &path, Value::Null).await;
    let other = api.fact("Ada", "studies", "engines").await;
    let refused = api.send("POST", &format!("{path}/restore"), Value::Null).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (409, Some("conflict")));
    assert!(refused.text().contains(&other));
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_5_rule_edit_resets_to_candidate_and_undo_restores_its_maturity() {
    let api = Api::start().await;
    let rule = api.rule("Ask twice").await;
    for _ in 0..5 {
        api.done("POST", &format!("/api/memory/rules/{rule}/helpful"), Value::Null).await;
    }
    let path = format!("/api/memory/rules/{rule}");
    assert_eq!(api.get(&path).await["data"]["maturity"], "established");
    let edited = api.done("PUT", &path, json!({"content": "Ask three times"})).await;
    assert_eq!((&edited["maturity"], &edited["success_count"]), (&json!("candidate"), &json!(0)));
    let detail = api.get(&path).await["data"].clone();
    assert_eq!(detail["applications"].as_array().unwrap().len(), 5, "its history is kept");
    assert_eq!(detail["next_level"]["helpful_marks"], 5);
    assert_eq!(api.get("/api/memory/rules?q=three").await["meta"]["total"], 1, "it is found by its new words");
    api.done("POST", &format!("{path}/restore"), Value::Null).await;
    let back = api.get(&path).await["data"].clone();
    assert_eq!(
        (&back["content"], &back["maturity"], &back["success_count"]),
        (&json!("Ask twice"), &json!("established"), &json!(5))
    );
    assert_eq!(api.done("DELETE", &path, Value::Null).await["changed"], true);
    assert_eq!(api.get(&path).await["data"]["state"], "forgotten");
    assert_eq!(api.get("/api/memory/rules").await["meta"]["total"], 0);
    assert_eq!(api.send("PUT", &path, json!({"content": "x"})).await.status, 409);
    assert_eq!(api.done("POST", &format!("{path}/restore"), Value::Null).await["changed"], true);
    assert_eq!(api.get("/api/memory/rules").await["meta"]["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_is_previewed_without_changing_anything() {
    let api = Api::start().await;
    let entity = async |name: &str| {
        let made = api.tool("general", "entity_create", json!({"canonical_name": name, "entity_type": "person"})).await;
        made["entity_id"].as_str().unwrap().to_owned()
    };
    let (ada, augusta) = (entity("Ada").await, entity("Augusta").await);
    for (who, content) in [(&ada, "engines"), (&augusta, "poems")] {
        let fact = json!({"subject": "she", "predicate": "studies", "content": content, "entity_id": who});
        api.tool("general", "memory_store_fact", fact).await;
    }
    let path = format!("/api/memory/entities/{augusta}/merge");
    let body = json!({"target_entity_id": ada});
    let preview = api.done("POST", &format!("{path}?preview=true"), body.clone()).await;
    assert_eq!((&preview["facts_superseded"], &preview["aliases"]), (&json!(1), &json!(["Augusta"])));
    // It was confirmed earlier, so less of its confidence is left.
    assert_eq!(preview["conflicts"][0]["loser"], "studies: engines", "{preview}");
    assert_eq!(api.get("/api/memory/entities").await["meta"]["total"], 2, "the preview changes nothing");
    let mut merged = api.done("POST", &path, body.clone()).await;
    merged["preview"] = json!(true);
    assert_eq!(merged, preview, "the merge matches its preview");
    let detail = api.get(&format!("/api/memory/entities/{ada}")).await["data"].clone();
    assert_eq!((&detail["facts_total"], &detail["past_facts_total"]), (&json!(1), &json!(1)), "{detail}");
    assert_eq!(api.get(&format!("/api/memory/entities/{augusta}")).await["data"]["merged_into"], json!(ada));
    assert_eq!(api.send("POST", &path, body).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_are_returned_unchanged() {
    let api = Api::start().await;
    for text in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "{{constructor.constructor('x')()}}",
        "'; DROP TABLE facts; --",
        "javascript:alert(1)",
        "\u{202e}reversed\u{2066}",
    ] {
        let fact = api.fact(text, text, text).await;
        let rule = api.rule(text).await;
        let reason = json!({"reason": text});
        api.done("POST", &format!("/api/memory/rules/{rule}/harmful"), reason).await;
        let seen = api.answer(&format!("/api/memory/facts/{fact}")).await;
        let data = seen.json()["data"].clone();
        assert_eq!([&data["subject"], &data["predicate"], &data["content"]], [&json!(text); 3], "{text}");
        let rule = api.get(&format!("/api/memory/rules/{rule}")).await["data"].clone();
        assert_eq!((&rule["content"], &rule["harmful_reasons"][0]), (&json!(text), &json!(text)));
    }
    assert_eq!(api.get("/api/memory/facts?q=%3Cscript%3E").await["meta"]["total"], 1, "punctuation is searchable");
}

#[tokio::test(flavor = "multi_thread")]
async fn cross_site_requests_cannot_write() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "likes", "looms").await;
    let path = format!("/api/memory/facts/{fact}/confirm");
    for headers in [
        &[("Content-Type", "application/x-www-form-urlencoded")][..],
        &[("Content-Type", "text/plain")],
        &[("Content-Type", "application/json"), ("Origin", "https://evil.example")],
        &[("Content-Type", "application/json"), ("Sec-Fetch-Site", "cross-site")],
    ] {
        let answer = api.ask("POST", &path, headers, "{}".to_owned()).await;
        assert!([403, 415].contains(&answer.status), "{headers:?}: {}", answer.text());
    }
    assert_eq!(api.get("/api/timeline?type=fact_confirmed").await["meta"]["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changing_a_forgotten_memory_is_refused_with_a_hint_to_restore_it() {
    let api = Api::start().await;
    let (fact, rule) = (api.fact("gate", "is", "shut").await, api.rule("Knock first").await);
    api.done("DELETE", &format!("/api/memory/facts/{fact}"), Value::Null).await;
    api.done("DELETE", &format!("/api/memory/rules/{rule}"), Value::Null).await;
    let refused = [
        ("POST", format!("/api/memory/facts/{fact}/confirm"), Value::Null, format!("/api/memory/facts/{fact}/restore")),
        (
            "PUT",
            format!("/api/memory/facts/{fact}"),
            json!({"content": "open"}),
            format!("/api/memory/facts/{fact}/restore"),
        ),
        ("POST", format!("/api/memory/rules/{rule}/helpful"), Value::Null, format!("/api/memory/rules/{rule}/restore")),
        (
            "PUT",
            format!("/api/memory/rules/{rule}"),
            json!({"content": "Ring"}),
            format!("/api/memory/rules/{rule}/restore"),
        ),
    ];
    for (method, path, body, remedy) in refused {
        let answer = api.send(method, &path, body).await;
        assert_eq!(answer.status, 409, "{method} {path}: {}", answer.text());
        let error = answer.json()["error"].clone();
        assert_eq!(error["code"], "invalid_state", "{error}");
        assert!(error["hint"].as_str().unwrap().contains(&remedy), "{error}");
        assert_eq!(api.send("POST", &remedy, Value::Null).await.status, 200, "the remedy works");
        api.done("DELETE", path.trim_end_matches("/confirm").trim_end_matches("/helpful"), Value::Null).await;
    }
    // Hints of this API name REST paths, not tools.
    let unknown_id = "00000000-0000-0000-0000-000000000000";
    for (method, path) in
        [("POST", "facts/{}/confirm"), ("GET", "rules/{}"), ("GET", "entities/{}"), ("POST", "entities/{}/merge")]
    {
        let body = if path.ends_with("merge") { json!({"target_entity_id": fact}) } else { Value::Null };
        let answer = api.send(method, &format!("/api/memory/{}", path.replace("{}", unknown_id)), body).await;
        let error = answer.json()["error"].clone();
        assert_eq!(answer.status, 404, "{path}: {error}");
        assert!(error["hint"].as_str().unwrap().contains("GET /api/"), "{path}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_is_previewed_then_erased() {
    let api = Api::start().await;
    let ada = json!({"canonical_name": "Ada", "entity_type": "person"});
    let ada = api.tool("general", "entity_create", ada).await["entity_id"].as_str().unwrap().to_owned();
    api.fact("Ada", "likes", "looms").await;
    let (kept, gone) = (api.rule("Ask Ada twice").await, api.rule("Ask Ada once").await);
    let path = format!("/api/memory/entities/{ada}/forget");
    let preview = api.done("POST", &path, json!({"erase": true})).await;
    assert_eq!((&preview["dry_run"], &preview["facts"]), (&json!(true), &json!(1)), "{preview}");
    assert_eq!(preview["mentions"]["totals"]["rules"], 2);
    let erased = api.done("POST", &path, json!({"erase": true, "dry_run": false, "rule_ids": [gone]})).await;
    assert_eq!(erased["mentions"]["rules"][0]["text"], "Ask Ada once");
    assert_eq!(api.get("/api/memory/facts").await["meta"]["total"], 0);
    assert_eq!(api.get("/api/memory/rules").await["data"][0]["id"], kept.as_str());
    let events = api.get("/api/timeline?type=entity_erased").await;
    assert_eq!(events["data"][0]["memory_id"], ada.as_str(), "{events}");
    for (path, body, status) in [
        (path.as_str(), json!({}), 404),
        ("/api/memory/entities/x/forget", json!({}), 404),
        (path.as_str(), json!({"erased": true}), 422),
    ] {
        let refused = api.send("POST", path, body.clone()).await;
        assert!(refused.status == status || refused.status == 400, "{body}: {} {}", refused.status, refused.text());
    }
}
