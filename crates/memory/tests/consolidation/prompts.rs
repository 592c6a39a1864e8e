//! Which episodes, facts and rules the model is shown.

use butler_memory::consolidate::ConsolidationRequest;
use serde_json::json;

use crate::world::{Model, World, episodes_in};

#[tokio::test]
async fn episode_grouping_and_prompt_construction() {
    let model = Model::of_facts();
    let world = World::new(model.clone()).await;
    for (tenant, butler, content) in [
        ("default", "home", "b first"),
        ("default", "health", "a first"),
        ("acme", "home", "c first"),
        ("default", "home", "b second"),
    ] {
        world.episode_of(tenant, butler, content).await;
    }
    let report = world.run().await;
    let groups: Vec<_> =
        report.groups.iter().map(|g| (g.tenant_id.as_str(), g.butler.as_str(), g.counts.consolidated)).collect();
    assert_eq!(groups, [("acme", "home", 1), ("default", "health", 1), ("default", "home", 2)]);
    let prompts: Vec<Vec<String>> = model
        .sessions()
        .iter()
        .map(|session| episodes_in(&session.prompt).into_iter().map(|(_, content)| content).collect())
        .collect();
    assert_eq!(prompts, [vec!["c first"], vec!["a first"], vec!["b first", "b second"]], "oldest first within a group");
    assert!(model.sessions().iter().all(|session| session.trigger_source == "schedule:consolidation"));
    assert_eq!(report.totals.tokens_in, 300);
    let tenants = world.one("SELECT string_agg(tenant_id || ':' || subject, ' ' ORDER BY subject) FROM facts").await;
    assert_eq!(tenants, "default:a first default:b first default:b second acme:c first");
}

#[tokio::test]
async fn batches_are_bounded_and_episodes_that_expire_soon_come_first() {
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.batch_size = 3;
    let model = Model::of_facts();
    let world = World::with_config(model.clone(), config).await;
    for n in 0..7 {
        world.episode(&format!("episode {n}")).await;
    }
    world
        .fixture
        .db
        .execute("UPDATE episodes SET expires_at = created_at + interval '1 hour' WHERE content = 'episode 6'")
        .await;
    let report = world.run().await;
    assert_eq!((report.totals.batches, report.totals.consolidated), (3, 7));
    let sizes: Vec<usize> = model.sessions().iter().map(|session| episodes_in(&session.prompt).len()).collect();
    assert_eq!(sizes, [3, 3, 1]);
    let first = episodes_in(&model.sessions()[0].prompt);
    assert!(first.iter().any(|(_, content)| content == "episode 6"), "{first:?}");
}

#[tokio::test]
async fn up_to_100_facts_and_50_rules_the_most_relevant_ones_are_dedup_context() {
    let model = Model::says(r#"{"new_facts": []}"#);
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.prompt_token_cap = 100_000;
    let world = World::with_config(model.clone(), config).await;
    let seed: Vec<_> = (0..150)
        .map(
            |n| json!({"subject": format!("person {n}"), "predicate": "likes", "content": format!("thing number {n}")}),
        )
        .collect();
    let rules: Vec<_> = (0..70).map(|n| json!({"content": format!("rule about topic{n}")})).collect();
    let seeder = world.replica(Model::says(json!({"new_facts": seed, "new_rules": rules}).to_string()));
    world.episode("seed").await;
    seeder.run_consolidation(&ConsolidationRequest::default()).await.unwrap();
    assert_eq!(world.one("SELECT count(*) FROM facts").await, "150");
    world.episode("person 137 likes thing number 137, a rule about topic63").await;
    world.run().await;
    let prompt = &model.sessions()[0].prompt;
    assert_eq!(prompt.matches(" | likes | ").count(), 100);
    assert_eq!(prompt.matches("| rule about topic").count(), 50);
    assert!(prompt.contains("| person 137 | likes |") && prompt.contains("| rule about topic63 "), "{prompt}");
}

#[tokio::test]
async fn facts_and_rules_without_a_comparable_vector_are_shown_to_the_model() {
    let model = Model::says(r#"{"new_facts": []}"#);
    let world = World::new(model.clone()).await;
    // More than the prompt shows, so that they are chosen by their vectors.
    for n in 0..120 {
        let arguments = json!({"subject": format!("thing {n}"), "predicate": "is", "content": "somewhere"});
        world.fixture.call("memory_store_fact", arguments).await.unwrap();
        world.fixture.call("memory_store_rule", json!({"content": format!("Mind the thing {n}")})).await.unwrap();
    }
    world.fixture.db.execute(
        "INSERT INTO facts (subject, predicate, content) VALUES ('Ann', 'allergic_to', 'Ann is allergic to peanuts.');
         INSERT INTO rules (content) VALUES ('Ask Ann about peanuts first.');
         INSERT INTO embedding_versions (id, model, version, dimensions)
             VALUES ('00000000-0000-0000-0000-0000000000f0', 'older', '0', 384);
         INSERT INTO facts (subject, predicate, content, embedding, embedding_version_id)
             SELECT 'Bo', 'eats', 'Bo eats peanuts daily.', embedding, '00000000-0000-0000-0000-0000000000f0' FROM facts
             WHERE embedding IS NOT NULL LIMIT 1",
    )
    .await;
    world.episode("Ann ate peanuts with Bo").await;
    world.run().await;
    let prompt = &model.sessions()[0].prompt;
    for shown in ["Ann is allergic to peanuts.", "Bo eats peanuts daily.", "Ask Ann about peanuts first."] {
        assert!(prompt.contains(shown), "{shown}");
    }
    assert!(prompt.contains("| somewhere ("), "the others are still there");
}

#[tokio::test]
async fn facts_are_shown_to_the_model_if_no_episode_has_a_vector() {
    let model = Model::says(r#"{"new_facts": []}"#);
    let world = World::new(model.clone()).await;
    for n in 0..120 {
        let arguments = json!({"subject": format!("thing {n}"), "predicate": "is", "content": "somewhere"});
        world.fixture.call("memory_store_fact", arguments).await.unwrap();
    }
    let arguments = json!({"subject": "Ann", "predicate": "allergic_to", "content": "Ann is allergic to peanuts."});
    world.fixture.call("memory_store_fact", arguments).await.unwrap();
    world.fixture.db.execute("INSERT INTO episodes (butler, content) VALUES ('general', 'Ann ate peanuts.')").await;
    world.run().await;
    assert!(model.sessions()[0].prompt.contains("Ann is allergic to peanuts."));
}
