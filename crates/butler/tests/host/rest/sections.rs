//! The REST API behind the dashboard sections of the specification, named by section number.

use serde_json::{Value, json};

use super::{Api, id};

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_1_stats_count_permanence_maturity_episodes_and_fading() {
    let api = Api::start().await;
    assert_eq!(api.get("/api/memory/stats").await["data"]["summary"], "Nothing is remembered yet.");
    let permanent = json!({"subject": "Ada", "predicate": "born", "content": "1815", "permanence": "permanent"});
    api.tool("general", "memory_store_fact", permanent).await;
    api.fact("Ada", "mood", "calm").await;
    api.fact("Ada", "mood", "busy").await;
    api.rule("Ask before deleting").await;
    api.episode("Ada wrote a note").await;
    let stats = api.get("/api/memory/stats").await;
    let data = &stats["data"];
    assert_eq!(data["facts"]["by_permanence"]["permanent"], 1, "{data}");
    assert_eq!(data["facts"]["by_permanence"]["standard"], 1, "the superseded fact is not counted: {data}");
    assert_eq!((&data["facts"]["total"], &data["facts"]["active"]), (&json!(3), &json!(2)));
    assert_eq!(data["facts"]["superseded"], 1);
    assert_eq!(data["rules"]["by_maturity"]["candidate"], 1);
    assert_eq!((&data["episodes"]["total"], &data["episodes"]["unconsolidated"]), (&json!(1), &json!(1)));
    assert_eq!(data["fading"], 0);
    assert_eq!(data["pipeline"]["pending"], 1);
    let bins = data["confidence"]["facts"].as_array().unwrap();
    assert_eq!((bins.len(), &bins[19]), (20, &json!(2)), "new facts have full confidence");
    assert_eq!(
        (data["confidence"]["retrieval_threshold"].as_f64(), data["backlog"].as_array().unwrap().len()),
        (Some(0.2), 30)
    );
    assert_eq!(data["backlog"][29]["waiting"], 1);
    assert_eq!(data["butlers"][0]["butler"], "general");
    assert!(data["attention"].as_array().unwrap().iter().any(|item| item["what"] == "no_runtime"), "{data}");
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_2_facts_by_scope_subject_words_and_confidence_and_one_with_its_provenance() {
    let api = Api::start().await;
    let episode = api.episode("Ada said that she likes engines").await;
    let old = json!({"subject": "Ada", "predicate": "studies", "content": "looms", "source_episode_id": episode});
    let old = id(&api.tool("general", "memory_store_fact", old).await);
    let new = api.fact("Ada", "studies", "analytical engines").await;
    let scoped = json!({"subject": "Ada", "predicate": "owes", "content": "a letter", "scope": "finance"});
    let scoped = id(&api.tool("general", "memory_store_fact", scoped).await);
    let other = api.fact("Charles", "plans", "a difference engine").await;
    assert_eq!(ids(&api.get("/api/memory/facts?scope=finance").await), [scoped.as_str()]);
    assert_eq!(ids(&api.get("/api/memory/facts?subject=Charles").await), [other.as_str()]);
    assert_eq!(ids(&api.get("/api/memory/facts?q=analyt").await), [new.as_str()], "a prefix finds it");
    assert_eq!(api.get("/api/memory/facts?q=engine&min_confidence=0.5").await["meta"]["total"], 2);
    assert_eq!(ids(&api.get("/api/memory/facts?validity=superseded").await), [old.as_str()]);
    let detail = api.get(&format!("/api/memory/facts/{old}")).await["data"].clone();
    assert_eq!((&detail["validity"], &detail["home"]), (&json!("superseded"), &json!("general")));
    assert_eq!(detail["provenance"][0]["episode_id"], episode, "{detail}");
    assert_eq!(detail["provenance"][0]["label"], "Ada said that she likes engines");
    let chain: Vec<&str> =
        detail["supersession_chain"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(chain, ["looms", "analytical engines"]);
    let relations: Vec<(&str, &str)> = detail["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| (link["side"].as_str().unwrap(), link["relation"].as_str().unwrap()))
        .collect();
    assert!(relations.contains(&("incoming", "supersedes")) && relations.contains(&("outgoing", "derived_from")));
    let current = api.get(&format!("/api/memory/facts/{new}")).await["data"].clone();
    assert!(current["decay"]["fades_on"].as_str() < current["decay"]["expires_on"].as_str(), "{current}");
    assert_eq!(current["decay"]["rate"], 0.008);
    assert_eq!(current["reference_count"], 0, "browsing does not count as a reference");
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_2_a_deleted_source_episode_is_shown_as_expired() {
    let api = Api::start().await;
    let episode = api.episode("gone tomorrow").await;
    let fact = json!({"subject": "x", "predicate": "is", "content": "y", "source_episode_id": episode});
    let fact = id(&api.tool("general", "memory_store_fact", fact).await);
    api.tool("general", "memory_forget", json!({"memory_type": "episode", "memory_id": episode})).await;
    api.tool("general", "memory_run_episode_cleanup", json!({})).await;
    let source = api.get(&format!("/api/memory/facts/{fact}")).await["data"]["provenance"][0].clone();
    assert_eq!(source, json!({"episode_id": episode, "label": "expired episode", "expired": true}));
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_4_rules_by_scope_maturity_and_words_and_one_with_its_applications() {
    let api = Api::start().await;
    let rule = api.rule("Measure twice, cut once").await;
    api.rule("Never deploy on Friday").await;
    for _ in 0..5 {
        api.tool("general", "memory_mark_helpful", json!({"rule_id": rule})).await;
    }
    api.done("POST", &format!("/api/memory/rules/{rule}/harmful"), json!({"reason": "the board was bent"})).await;
    assert_eq!(ids(&api.get("/api/memory/rules?q=measur").await), [rule.as_str()]);
    assert_eq!(api.get("/api/memory/rules?maturity=candidate").await["meta"]["total"], 2);
    assert_eq!(api.get("/api/memory/rules?scope=elsewhere").await["meta"]["total"], 0);
    let detail = api.get(&format!("/api/memory/rules/{rule}")).await["data"].clone();
    let outcomes: Vec<&str> =
        detail["applications"].as_array().unwrap().iter().map(|mark| mark["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["harmful", "helpful", "helpful", "helpful", "helpful", "helpful"]);
    assert_eq!(detail["harmful_reasons"], json!(["the board was bent"]));
    assert_eq!(detail["effectiveness_over_time"].as_array().unwrap().len(), 6);
    assert!(detail["next_level"]["in_words"].as_str().unwrap().ends_with("to established"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_6_episodes_by_butler_day_and_status_and_what_one_became() {
    let api = Api::start().await;
    let episode = api.episode("Ada moved to Turin").await;
    let other = json!({"content": "an inbox message", "butler": "inbox"});
    api.tool("general", "memory_store_episode", other).await;
    let fact = json!({"subject": "Ada", "predicate": "lives in", "content": "Turin", "source_episode_id": episode});
    let fact = id(&api.tool("general", "memory_store_fact", fact).await);
    assert_eq!(ids(&api.get("/api/memory/episodes?butler=general").await), [episode.as_str()]);
    assert_eq!(api.get("/api/memory/episodes?status=pending&from=2020-01-01").await["meta"]["total"], 2);
    assert_eq!(api.get("/api/memory/episodes?to=2020-01-01").await["meta"]["total"], 0);
    assert_eq!(api.get("/api/memory/episodes?q=turin").await["meta"]["total"], 1);
    let detail = api.get(&format!("/api/memory/episodes/{episode}")).await["data"].clone();
    assert_eq!((&detail["became"][0]["id"], &detail["produced"]), (&json!(fact), &json!(1)), "{detail}");
    assert_eq!(api.answer("/api/memory/episodes?from=yesterday").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn sections_9_7_and_9_11_activity_and_timeline_show_how_knowledge_changed() {
    let api = Api::start().await;
    api.fact("Ada", "studies", "looms").await;
    let fact = api.fact("Ada", "studies", "engines").await;
    let rule = api.rule("Ask twice").await;
    for _ in 0..5 {
        api.tool("general", "memory_mark_helpful", json!({"rule_id": rule})).await;
    }
    api.tool("general", "memory_confirm", json!({"memory_type": "fact", "memory_id": fact})).await;
    let activity = api.get("/api/memory/activity").await;
    let kinds: Vec<&str> =
        activity["data"].as_array().unwrap().iter().map(|event| event["event_type"].as_str().unwrap()).collect();
    for kind in ["rule_promoted", "rule_created", "fact_superseded", "fact_created"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    assert!(!kinds.contains(&"fact_confirmed"), "a confirmation is not activity");
    let promoted = api.get("/api/timeline?type=rule_promoted&kind=rule").await;
    assert_eq!((&promoted["meta"]["total"], &promoted["data"][0]["label"]), (&json!(1), &json!("Ask twice")));
    assert_eq!(api.get("/api/timeline?type=fact_confirmed&butler=general").await["meta"]["total"], 1);
    assert_eq!(api.answer("/api/timeline?type=nonsense").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_8_butler_scoped_lists_hold_the_butlers_own_scope_and_the_global_one() {
    let api = Api::with(&["health", "finance"]).await;
    for (butler, scope, content) in [
        ("health", "global", "everywhere"),
        ("health", "health", "only health"),
        ("health", "finance", "not for health"),
        ("finance", "finance", "another database"),
    ] {
        let fact = json!({"subject": content, "predicate": "is", "content": content, "scope": scope});
        api.tool(butler, "memory_store_fact", fact).await;
        api.tool(butler, "memory_store_rule", json!({"content": content, "scope": scope})).await;
        api.tool(butler, "memory_store_episode", json!({"content": content, "butler": scope})).await;
    }
    for list in ["facts", "rules"] {
        let own = api.get(&format!("/api/butlers/health/memory/{list}?sort=oldest")).await;
        let texts: Vec<&str> =
            own["data"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
        assert_eq!(texts, ["everywhere", "only health"], "{list}");
        assert_eq!(api.get(&format!("/api/memory/{list}")).await["meta"]["total"], 4, "{list} of all butlers");
        assert_eq!(api.get(&format!("/api/butlers/health/memory/{list}?scope=finance")).await["meta"]["total"], 0);
    }
    let episodes = api.get("/api/butlers/health/memory/episodes").await;
    assert_eq!((&episodes["meta"]["total"], &episodes["data"][0]["content"]), (&json!(1), &json!("only health")));
    let stats = api.get("/api/butlers/health/memory/stats").await["data"].clone();
    assert_eq!((&stats["facts"]["active"], &stats["episodes"]["total"]), (&json!(2), &json!(1)));
    let unknown = api.answer("/api/butlers/nobody/memory/facts").await;
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_str()), (404, Some("not_found")));
}

#[tokio::test(flavor = "multi_thread")]
async fn section_9_12_the_palette_finds_every_kind_by_prefix() {
    let api = Api::start().await;
    api.fact("Ada", "builds", "a zeppelin").await;
    api.rule("Polish the zeppelin weekly").await;
    api.episode("We flew the zeppelin").await;
    let entity = json!({"canonical_name": "Zeppelin Works", "entity_type": "organization"});
    api.tool("general", "entity_create", entity).await;
    let found = api.get("/api/memory/search?q=zepp").await;
    let kinds: Vec<&str> =
        found["data"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["fact", "rule", "episode", "entity"], "{found}");
    let (fact, rule) = (&found["data"][0], &found["data"][1]);
    assert_eq!(
        (&fact["title"], &fact["preview"], &fact["scope"]),
        (&json!("Ada builds"), &json!("a zeppelin"), &json!("global"))
    );
    assert!(fact["effective_confidence"].as_f64() > Some(0.99));
    assert_eq!(rule["maturity"], "candidate");
    assert_eq!(api.get("/api/memory/search?q=").await["data"], json!([]));
    assert_eq!(api.get("/api/memory/search?q=%3Cscript%3E").await["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_palette_ranks_name_matches_first_and_an_entity_before_its_facts() {
    let api = Api::start().await;
    api.fact("Max", "met", "Ada at the harbour; Ada told Ada stories").await;
    api.fact("Ada", "likes", "engines").await;
    api.episode("Ada, Ada and once more Ada").await;
    let entity = json!({"canonical_name": "Ada Byron", "entity_type": "person", "aliases": ["Ada"]});
    api.tool("general", "entity_create", entity).await;
    let found = api.get("/api/memory/search?q=ada").await;
    let titles: Vec<(&str, &str)> = found["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["kind"].as_str().unwrap(), it["title"].as_str().unwrap()))
        .collect();
    assert_eq!(titles[..3], [("entity", "Ada Byron"), ("fact", "Ada likes"), ("fact", "Max met")], "{found}");
    assert_eq!(titles[3].0, "episode", "a content match comes last: {found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_query_lab_shows_every_part_of_the_score_and_the_exact_context_block() {
    let api = Api::start().await;
    let fact = api.fact("Ada", "is allergic to", "peanuts").await;
    let lab = api.get("/api/memory/recall?q=What+is+Ada+allergic+to").await["data"].clone();
    let hit = &lab["results"][0];
    assert_eq!((&hit["id"], &hit["semantic_rank"], &hit["keyword_rank"]), (&json!(fact), &json!(1), &json!(1)));
    for part in ["relevance", "importance", "recency", "effective_confidence", "rrf_score", "score"] {
        assert!(hit[part].is_number(), "{part} of {hit}");
    }
    assert!(hit["explain"]["weighed"]["relevance"].is_number() && lab["trace"]["weights"]["recency"].is_number());
    let arguments = json!({"trigger_prompt": "What is Ada allergic to", "butler": "general"});
    let context = api.tool("general", "memory_context", arguments).await;
    assert_eq!(lab["context"]["text"], context["context"], "the lab shows the context that an agent gets");
    assert_eq!(lab["context"]["tokens"], context["tokens"]);
    let detail = api.get(&format!("/api/memory/facts/{fact}")).await["data"].clone();
    assert_eq!(detail["reference_count"], 1, "the agent's call counts as a reference, the lab's does not");
}
