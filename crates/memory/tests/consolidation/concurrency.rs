use std::sync::Arc;

use crate::world::{Model, World, episodes_in};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_replicas_and_two_hundred_episodes_each_consolidated_exactly_once() {
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.batch_size = 7;
    let models = [Model::of_facts(), Model::of_facts()];
    let world = World::with_config(Arc::clone(&models[0]), config).await;
    for n in 0..200 {
        world.episode_of("default", ["health", "home", "general", "travel"][n % 4], &format!("episode {n}")).await;
    }
    let replicas: Vec<_> = models.iter().map(|model| world.replica(Arc::clone(model))).collect();
    let mut consolidated = 0;
    // A replica skips a group that another has leased; both run again until nothing is left.
    for _ in 0..20 {
        let runs = replicas.iter().map(|replica| {
            let replica = Arc::clone(replica);
            tokio::spawn(async move { replica.run_consolidation(&Default::default()).await.unwrap() })
        });
        for run in futures::future::join_all(runs).await {
            let report = run.unwrap();
            assert_eq!(report.errors, Vec::<String>::new());
            consolidated += report.totals.consolidated;
        }
        if consolidated >= 200 {
            break;
        }
    }
    assert_eq!(consolidated, 200);
    let mut seen: Vec<String> = models
        .iter()
        .flat_map(|model| model.sessions())
        .flat_map(|s| episodes_in(&s.prompt))
        .map(|(id, _)| id)
        .collect();
    seen.sort();
    assert_eq!(seen.len(), 200, "no episode was in two prompts");
    seen.dedup();
    assert_eq!(seen.len(), 200);
    let facts = "SELECT concat_ws('|', count(*), count(DISTINCT subject), count(*) FILTER (WHERE validity = 'active')) FROM facts";
    assert_eq!(world.one(facts).await, "200|200|200");
    assert_eq!(world.one("SELECT count(*) FROM memory_links WHERE relation = 'derived_from'").await, "200");
    assert_eq!(world.one("SELECT count(*) FROM memory_events WHERE event_type = 'episode_consolidated'").await, "200");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replicas_that_store_the_same_facts_leave_one_active_fact_per_key_and_no_error() {
    let answer = |n: usize| {
        let facts: Vec<_> = (0..20)
            .map(|k| serde_json::json!({"subject": format!("thing {}", (k * 7 + n * 3) % 20), "predicate": "is", "content": format!("{n}")}))
            .collect();
        serde_json::json!({"new_facts": facts}).to_string()
    };
    let world = World::new(Model::says(answer(0))).await;
    for n in 0..4 {
        world.episode_of("default", &format!("butler {n}"), &format!("episode {n}")).await;
    }
    let runs = (0..4).map(|n| {
        let replica = world.replica(Model::says(answer(n)));
        tokio::spawn(async move { replica.run_consolidation(&Default::default()).await.unwrap() })
    });
    for run in futures::future::join_all(runs).await {
        assert_eq!(run.unwrap().errors, Vec::<String>::new());
    }
    let active = "SELECT concat_ws('|', count(*), count(DISTINCT subject)) FROM facts WHERE validity = 'active'";
    assert_eq!(world.one(active).await, "20|20");
    assert_eq!(world.one("SELECT count(*) FROM episodes WHERE NOT consolidated").await, "0");
}
