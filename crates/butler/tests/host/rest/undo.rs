//! Undo of confirmations, marks, edits of the key and resolutions of conflicts.

use serde_json::{Value, json};

use super::{Api, id};

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_is_undone_until_something_else_happens() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "likes", "looms").await;
    let path = format!("/api/memory/facts/{fact}");
    let before = api.get(&path).await["data"]["last_confirmed_at"].clone();
    api.done("POST", &format!("{path}/confirm"), Value::Null).await;
    assert_ne!(api.get(&path).await["data"]["last_confirmed_at"], before);
    api.done("POST", &format!("{path}/undo"), Value::Null).await;
    let detail = api.get(&path).await["data"].clone();
    assert_eq!(detail["last_confirmed_at"], before);
    assert_eq!(detail["events"][0]["event_type"], "confirmation_undone");
    let again = api.send("POST", &format!("{path}/undo"), Value::Null).await;
    assert_eq!((again.status, again.json()["error"]["code"].as_str()), (409, Some("invalid_state")));
    let missing = "/api/memory/facts/00000000-0000-0000-0000-000000000000/undo";
    assert_eq!(api.send("POST", missing, Value::Null).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_undoes_the_confirmation_of_somebody_else() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "likes", "looms").await;
    let path = format!("/api/memory/facts/{fact}");
    let mine = api.done("POST", &format!("{path}/confirm"), Value::Null).await["last_confirmed_at"].clone();
    let mine = mine.as_str().unwrap().replace('+', "%2B");
    api.tool("general", "memory_confirm", json!({"memory_type": "fact", "memory_id": fact})).await;
    let agents = api.get(&path).await["data"]["last_confirmed_at"].clone();
    let theirs = agents.as_str().unwrap().replace('+', "%2B");
    for undo in [format!("{path}/undo"), format!("{path}/undo?at={mine}"), format!("{path}/undo?at={theirs}")] {
        let refused = api.send("POST", &undo, Value::Null).await;
        assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (409, Some("invalid_state")), "{undo}");
    }
    assert_eq!(api.get(&path).await["data"]["last_confirmed_at"], agents);
    let mine = api.done("POST", &format!("{path}/confirm"), Value::Null).await["last_confirmed_at"].clone();
    api.done("POST", &format!("{path}/undo?at={}", mine.as_str().unwrap().replace('+', "%2B")), Value::Null).await;
    assert_eq!(api.get(&path).await["data"]["last_confirmed_at"], agents);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mark_is_undone_with_the_promotion_that_it_brought() {
    let api = Api::start().await;
    let rule = api.rule("Ask twice").await;
    let path = format!("/api/memory/rules/{rule}");
    for _ in 0..4 {
        api.done("POST", &format!("{path}/helpful"), Value::Null).await;
    }
    let before = api.get(&path).await["data"].clone();
    assert_eq!(before["maturity"], "candidate");
    api.done("POST", &format!("{path}/helpful"), Value::Null).await;
    assert_eq!(api.get(&path).await["data"]["maturity"], "established");
    api.done("POST", &format!("{path}/undo"), Value::Null).await;
    let same = ["maturity", "success_count", "applied_count", "effectiveness_score", "last_applied_at", "applications"];
    let after = api.get(&path).await["data"].clone();
    for field in same {
        assert_eq!(after[field], before[field], "{field}");
    }
    api.done("POST", &format!("{path}/harmful"), json!({"reason": "slow"})).await;
    api.done("POST", &format!("{path}/undo"), Value::Null).await;
    let after = api.get(&path).await["data"].clone();
    assert_eq!((&after["harmful_count"], &after["harmful_reasons"]), (&json!(0), &json!([])));
    assert_eq!(after["events"][0]["event_type"], "mark_undone");
    api.done("POST", &format!("{path}/confirm"), Value::Null).await;
    api.done("POST", &format!("{path}/undo"), Value::Null).await;
    assert_eq!(api.get(&path).await["data"]["last_confirmed_at"], before["last_confirmed_at"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_of_subject_and_predicate_moves_the_fact_and_undo_brings_it_back() {
    let api = Api::start().await;
    let episode = api.episode("Ada lives in Turin").await;
    let fact = json!({"subject": "Ada", "predicate": "lives_in", "content": "Turin", "source_episode_id": episode});
    let fact = id(&api.tool("general", "memory_store_fact", fact).await);
    let path = format!("/api/memory/facts/{fact}");
    let body = json!({"subject": "Augusta", "predicate": "was_born_in", "scope": "family"});
    let moved = api.done("PUT", &path, body).await;
    assert_eq!(moved["superseded_id"], fact.as_str());
    let new = format!("/api/memory/facts/{}", id(&moved));
    let detail = api.get(&new).await["data"].clone();
    assert_eq!(
        (&detail["subject"], &detail["predicate"], &detail["scope"], &detail["content"]),
        (&json!("Augusta"), &json!("was_born_in"), &json!("family"), &json!("Turin"))
    );
    assert_eq!(api.get(&path).await["data"]["validity"], "superseded");
    let undone = api.done("POST", &format!("{path}/restore"), Value::Null).await;
    assert_eq!(undone["retracted_id"], id(&moved));
    assert_eq!(api.get(&path).await["data"]["validity"], "active");
    assert_eq!(api.get(&new).await["data"]["validity"], "retracted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_restates_no_longer_comes_from_the_episode() {
    let api = Api::start().await;
    let episode = api.episode("Ada likes looms").await;
    let fact = json!({"subject": "Ada", "predicate": "likes", "content": "looms", "source_episode_id": episode});
    let fact = id(&api.tool("general", "memory_store_fact", fact).await);
    let graded = id(&api.done("PUT", &format!("/api/memory/facts/{fact}"), json!({"importance": 9})).await);
    let sources = async |fact: &str| api.get(&format!("/api/memory/facts/{fact}")).await["data"]["provenance"].clone();
    assert_eq!(sources(&graded).await[0]["episode_id"], episode.as_str(), "it still says what the episode said");
    let restated = id(&api.done("PUT", &format!("/api/memory/facts/{graded}"), json!({"content": "engines"})).await);
    assert_eq!(sources(&restated).await, json!([]), "the episode did not say it");
    assert_eq!(sources(&graded).await[0]["episode_id"], episode.as_str(), "the version before keeps its source");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_undoes_the_resolution_of_a_conflict() {
    let api = Api::start().await;
    for (scope, content) in [("global", "Wants to weigh 72 kg"), ("health", "Wants to weigh 75 kg")] {
        let fact = json!({"subject": "Anna", "predicate": "weight_goal", "content": content, "scope": scope});
        api.tool("general", "memory_store_fact", fact).await;
    }
    for body in [
        json!({"resolution": "keep_a"}),
        json!({"resolution": "forget_both"}),
        json!({"resolution": "merge", "content": "Wants to weigh 72 to 75 kg"}),
        json!({"resolution": "keep_both", "scope": "sport", "valid_from": "2029"}),
    ] {
        let open = api.get("/api/memory/conflicts").await;
        assert_eq!(open["meta"]["total"], 1, "{body}: {open}");
        let path = format!("/api/memory/conflicts/{}", open["data"][0]["id"].as_str().unwrap());
        api.done("POST", &format!("{path}/resolve"), body.clone()).await;
        assert_eq!(api.get("/api/memory/conflicts").await["meta"]["total"], 0, "{body}");
        let reopened = api.done("POST", &format!("{path}/reopen"), Value::Null).await;
        for side in ["a", "b"] {
            assert_eq!(reopened[side]["validity"], "active", "{body}");
        }
    }
    assert_eq!(api.get("/api/memory/facts").await["meta"]["total"], 2, "the new versions are gone");
}
