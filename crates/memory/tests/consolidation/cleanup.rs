use butler_memory::cleanup::CleanupReport;
use serde_json::json;

use crate::world::{Model, World};

async fn cleanup(world: &World, max_entries: u64) -> CleanupReport {
    let origin = world.fixture.as_test().origin;
    world.memory.run_episode_cleanup(None, max_entries, &origin).await.unwrap()
}

#[tokio::test]
async fn expired_episodes_deleted() {
    let world = World::new(Model::of_facts()).await;
    world.episode("learned from").await;
    world.run().await;
    world.fixture.clock.advance_days(6.9);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 0);
    world.fixture.clock.advance_days(0.2);
    world.episode("fresh").await;
    let report = cleanup(&world, 10_000).await;
    assert_eq!((report.expired_deleted, report.capacity_deleted, report.remaining), (1, 0, 1));
    let events = "SELECT payload ->> 'never_consolidated' FROM memory_events WHERE event_type = 'episode_expired'";
    assert_eq!(world.rows(events).await, ["false"]);
    // The fact and the link to its source stay.
    assert_eq!(world.one("SELECT concat_ws('|', validity, source_episode_id IS NULL) FROM facts").await, "active|t");
    assert_eq!(world.one("SELECT count(*) FROM memory_links WHERE relation = 'derived_from'").await, "1");
}

#[tokio::test]
async fn what_has_not_been_learned_from_does_not_expire() {
    let world = World::without_runtime().await;
    let forgotten = world.episode("forgotten").await;
    for status in ["pending", "failed", "dead_letter"] {
        world.episode(status).await;
    }
    world.fixture.db.execute("UPDATE episodes SET consolidation_status = content WHERE content <> 'forgotten'").await;
    world
        .fixture
        .call("memory_forget", json!({"memory_type": "episode", "memory_id": forgotten.to_string()}))
        .await
        .unwrap();
    // No LLM, and cleanup runs every day for eight weeks.
    for day in 1..=56 {
        world.fixture.clock.advance_days(1.0);
        cleanup(&world, 10_000).await;
        let alive = "SELECT string_agg(content, ',' ORDER BY content) FROM episodes WHERE expires_at > created_at";
        assert_eq!(world.one(alive).await, "dead_letter,failed,pending", "day {day}: a forgotten episode is not kept");
        let found =
            world.fixture.call("memory_search", json!({"query": "pending", "types": ["episode"]})).await.unwrap();
        assert_eq!(found["results"].as_array().unwrap().len(), 3, "day {day}: an unlearned episode is still found");
    }
    assert_eq!(world.one("SELECT count(*) FROM episodes").await, "3");
}

#[tokio::test]
async fn a_server_that_was_off_for_eight_days_loses_no_unlearned_episode() {
    let world = World::new(Model::of_facts()).await;
    for n in 0..250 {
        world.episode(&format!("episode {n}")).await;
    }
    world.fixture.clock.advance_days(8.0);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 0, "even if cleanup comes before consolidation");
    assert_eq!(world.run().await.totals.consolidated, 250);
    world.fixture.clock.advance_days(8.0);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 250);
}

#[tokio::test]
async fn beyond_max_unlearned_the_oldest_expire_with_an_event() {
    let mut config = butler_memory::MemoryConfig::default();
    config.episodes.max_unlearned = 3;
    let world = World::with_config(Model::of_facts(), config).await;
    for n in 0..5 {
        world.episode(&format!("episode {n}")).await;
    }
    for n in 0..3 {
        world.episode_of("acme", "general", &format!("acme's {n}")).await;
    }
    let mut conn = world.memory.db().owner().await.unwrap();
    let many = world.memory.many_unlearned(&mut conn, None).await.unwrap();
    assert_eq!(many, [("acme".to_owned(), 3), ("default".to_owned(), 5)], "the log and `butler doctor` warn of these");
    world.fixture.clock.advance_days(6.0);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 0, "the oldest are not moved on, but have a day left");
    world.fixture.clock.advance_days(2.0);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 2);
    let left = "SELECT string_agg(content, ',' ORDER BY created_at) FROM episodes WHERE tenant_id = 'default'";
    assert_eq!(world.one(left).await, "episode 2,episode 3,episode 4");
    assert_eq!(
        world.one("SELECT count(*) FROM episodes WHERE tenant_id = 'acme'").await,
        "3",
        "each tenant for itself"
    );
    let events = "SELECT payload ->> 'never_consolidated' FROM memory_events WHERE event_type = 'episode_expired'";
    assert_eq!(world.rows(events).await, ["true", "true"]);
}

#[tokio::test]
async fn capacity_enforcement_targets_consolidated_episodes() {
    let world = World::new(Model::of_facts()).await;
    for n in 0..6 {
        world.episode(&format!("old {n}")).await;
    }
    world.run().await;
    for n in 0..3 {
        world.episode(&format!("new {n}")).await;
    }
    let counted = world.memory.dry_run_episode_cleanup(None, 5).await.unwrap();
    assert_eq!(world.one("SELECT count(*) FROM episodes").await, "9", "a dry run removes nothing");
    assert_eq!(cleanup(&world, 5).await, counted);
    assert_eq!(counted, CleanupReport { capacity_deleted: 4, remaining: 5, ..CleanupReport::default() });
    let left = "SELECT string_agg(content, ',' ORDER BY created_at) FROM episodes";
    assert_eq!(world.one(left).await, "old 4,old 5,new 0,new 1,new 2", "the oldest was deleted");
    assert_eq!(
        cleanup(&world, 1).await,
        CleanupReport { capacity_deleted: 2, remaining: 3, ..CleanupReport::default() },
        "pending episodes are never deleted because of the capacity"
    );
    assert_eq!(world.one("SELECT count(*) FROM memory_events WHERE event_type = 'episode_evicted'").await, "6");
}

#[tokio::test]
async fn capacity_is_counted_for_each_tenant() {
    let world = World::new(Model::of_facts()).await;
    for n in 0..4 {
        world.episode_of("acme", "general", &format!("a {n}")).await;
    }
    world.episode_of("default", "general", "b").await;
    world.run().await;
    assert_eq!(
        cleanup(&world, 2).await,
        CleanupReport { capacity_deleted: 2, remaining: 3, ..CleanupReport::default() }
    );
    assert_eq!(
        world.one("SELECT string_agg(tenant_id, ',' ORDER BY tenant_id) FROM episodes").await,
        "acme,acme,default"
    );
}

#[tokio::test]
async fn a_leased_episode_is_not_removed() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
    world.run().await;
    world.fixture.clock.advance_days(8.0);
    let until = world.memory.now() + chrono::TimeDelta::minutes(1);
    sqlx::query("UPDATE episodes SET lease_token = gen_random_uuid(), leased_until = $1")
        .bind(until)
        .execute(&mut world.fixture.db.connect().await)
        .await
        .unwrap();
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 0);
    world.fixture.clock.advance_days(0.1);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 1);
}

#[tokio::test]
async fn cleanup_returns_statistics() {
    let world = World::new(Model::of_facts()).await;
    for n in 0..3 {
        world.episode(&format!("episode {n}")).await;
    }
    world.run().await;
    let answer = world.fixture.call("memory_run_episode_cleanup", json!({"max_entries": 1})).await.unwrap();
    assert_eq!(answer, json!({"expired_deleted": 0, "capacity_deleted": 2, "remaining": 1}));
    let error = world.fixture.call("memory_run_episode_cleanup", json!({"max_entries": -1})).await.unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_argument");
    let error = world.fixture.call("memory_run_episode_cleanup", json!({"max_entries": "many"})).await.unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_argument");
}
