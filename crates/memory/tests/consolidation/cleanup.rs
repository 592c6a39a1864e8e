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
    world.episode("never looked at").await;
    world.fixture.clock.advance_days(6.9);
    assert_eq!(cleanup(&world, 10_000).await, CleanupReport { expired_deleted: 0, capacity_deleted: 0, remaining: 2 });
    world.fixture.clock.advance_days(0.2);
    world.episode("fresh").await;
    assert_eq!(cleanup(&world, 10_000).await, CleanupReport { expired_deleted: 2, capacity_deleted: 0, remaining: 1 });
    let events = "SELECT concat_ws('|', payload ->> 'never_consolidated', payload ->> 'consolidation_status')
                  FROM memory_events WHERE event_type = 'episode_expired' ORDER BY 1";
    assert_eq!(world.rows(events).await, ["false|consolidated", "true|pending"]);
    // The fact stays, and so does the trace of where it came from.
    assert_eq!(world.one("SELECT concat_ws('|', validity, source_episode_id IS NULL) FROM facts").await, "active|t");
    assert_eq!(world.one("SELECT count(*) FROM memory_links WHERE relation = 'derived_from'").await, "1");
}

#[tokio::test]
async fn pending_grace_days_keep_an_expired_episode_that_was_never_consolidated() {
    let mut config = butler_memory::MemoryConfig::default();
    config.episodes.pending_grace_days = 3.0;
    let world = World::with_config(Model::of_facts(), config).await;
    let forgotten = world.episode("forgotten").await;
    world.episode("waiting").await;
    world
        .fixture
        .call("memory_forget", json!({"memory_type": "episode", "memory_id": forgotten.to_string()}))
        .await
        .unwrap();
    world.fixture.clock.advance_days(8.0);
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 1, "what was forgotten is not kept");
    assert_eq!(world.run().await.totals.consolidated, 1, "the grace is for this");
    assert_eq!(cleanup(&world, 10_000).await.expired_deleted, 1);
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
    let counted = world.memory.episode_cleanup_dry(None, 5).await.unwrap();
    assert_eq!(world.one("SELECT count(*) FROM episodes").await, "9", "a dry run removes nothing");
    assert_eq!(cleanup(&world, 5).await, counted);
    assert_eq!(counted, CleanupReport { expired_deleted: 0, capacity_deleted: 4, remaining: 5 });
    let left = "SELECT string_agg(content, ',' ORDER BY created_at) FROM episodes";
    assert_eq!(world.one(left).await, "old 4,old 5,new 0,new 1,new 2", "the oldest went");
    assert_eq!(
        cleanup(&world, 1).await,
        CleanupReport { expired_deleted: 0, capacity_deleted: 2, remaining: 3 },
        "what is not consolidated is never deleted for room"
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
    assert_eq!(cleanup(&world, 2).await, CleanupReport { expired_deleted: 0, capacity_deleted: 2, remaining: 3 });
    assert_eq!(
        world.one("SELECT string_agg(tenant_id, ',' ORDER BY tenant_id) FROM episodes").await,
        "acme,acme,default"
    );
}

#[tokio::test]
async fn an_episode_in_the_hands_of_a_worker_is_not_removed_under_it() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
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
