//! A wrong clock destroys nothing.

use std::sync::Arc;
use std::time::Duration;

use butler_domain::event::Origin;
use butler_memory::{Memory, MemoryError, MemoryParts};
use butler_testkit::MemoryFixture;
use chrono::TimeDelta;
use serde_json::{Value, json};

async fn store(fixture: &MemoryFixture, subject: &str) -> Value {
    let fact = json!({"subject": subject, "predicate": "drinks", "content": "tea"});
    fixture.call("memory_store_fact", fact).await.unwrap()["id"].clone()
}

async fn rule(fixture: &MemoryFixture, content: &str) -> Value {
    fixture.call("memory_store_rule", json!({"content": content})).await.unwrap()["id"].clone()
}

async fn forget(fixture: &MemoryFixture, memory_type: &str, id: &Value) {
    fixture.call("memory_forget", json!({"memory_type": memory_type, "memory_id": id})).await.unwrap();
}

async fn one(fixture: &MemoryFixture, statement: &'static str) -> String {
    sqlx::query_scalar(statement).fetch_one(&mut fixture.db.connect().await).await.unwrap()
}

const STATES: &str = "SELECT string_agg(state, ' ' ORDER BY state COLLATE \"C\") FROM (
    SELECT subject || ':' || validity AS state FROM facts
    UNION ALL SELECT content || ':' || CASE WHEN rule_is_remembered(metadata) THEN 'known' ELSE 'forgotten' END FROM rules
    UNION ALL SELECT 'episodes:' || count(*) FROM episodes) s";

/// A new process on the same database and clock.
fn restarted(fixture: &MemoryFixture) -> Arc<Memory> {
    Arc::new(Memory::new(MemoryParts {
        butler: fixture.memory.butler().clone(),
        db: fixture.db.database().clone(),
        embedder: fixture.embedder.clone(),
        clock: fixture.clock.clone(),
        config: fixture.memory.config().clone(),
    }))
}

fn is_doubt<T>(outcome: Result<T, MemoryError>) -> bool {
    matches!(outcome, Err(MemoryError::ClockInDoubt { .. }))
}

#[tokio::test]
async fn a_clock_that_is_wrong_for_seven_seconds_destroys_nothing() {
    let fixture = MemoryFixture::new().await;
    store(&fixture, "Ann").await;
    rule(&fixture, "greet").await;
    fixture.call("memory_store_episode", json!({"content": "one", "butler": "general"})).await.unwrap();
    fixture.db.execute("UPDATE episodes SET consolidated = true, consolidation_status = 'consolidated'").await;
    fixture.memory.watch_clock().await.unwrap();
    fixture.clock.jump(TimeDelta::days(400));
    for _ in 0..2 {
        assert!(is_doubt(fixture.memory.sweep(None).await));
        assert!(is_doubt(fixture.memory.run_episode_cleanup(None, 0, &Origin::default()).await));
        let refused = fixture.call("memory_run_episode_cleanup", json!({})).await.unwrap_err();
        assert_eq!(refused.code.as_str(), "unavailable");
        assert!(refused.hint.unwrap().contains("butler jobs accept-clock"));
        fixture.clock.advance(Duration::from_secs(7));
    }
    let doubt = fixture.memory.clock_doubt().unwrap();
    assert_eq!(doubt, "the clock jumped from 2030-01-15 12:00 UTC to 2031-02-19 12:00 UTC");
    fixture.clock.jump(TimeDelta::days(-400));
    fixture.memory.sweep(None).await.unwrap();
    fixture.memory.run_episode_cleanup(None, 10_000, &Origin::default()).await.unwrap();
    assert_eq!(fixture.memory.clock_doubt(), None);
    assert_eq!(one(&fixture, STATES).await, "Ann:active episodes:1 greet:known");
}

/// Dated 400 days back, they would expire as soon as the clock is right.
#[tokio::test]
async fn what_is_written_under_a_wrong_clock_is_dated_as_if_it_were_right() {
    let fixture = MemoryFixture::new().await;
    let greet = rule(&fixture, "greet").await;
    fixture.memory.watch_clock().await.unwrap();
    for days in [-400, 400] {
        fixture.clock.jump(TimeDelta::days(days));
        store(&fixture, &format!("Ann {days}")).await;
        fixture.call("memory_mark_helpful", json!({"rule_id": greet})).await.unwrap();
        let recalled = fixture.call("memory_recall", json!({"topic": "Ann likes tea"})).await.unwrap();
        assert!(!recalled["results"].as_array().unwrap().is_empty(), "{days}: {recalled}");
        fixture.clock.jump(TimeDelta::days(-days));
    }
    let dated = "SELECT string_agg(DISTINCT t::text, ' ') FROM (
        SELECT last_confirmed_at AS t FROM facts UNION ALL SELECT last_confirmed_at FROM rules
        UNION ALL SELECT created_at FROM memory_events) s";
    assert_eq!(one(&fixture, dated).await, "2030-01-15 12:00:00+00");
    let restarted = restarted(&fixture);
    fixture.clock.jump(TimeDelta::days(-400));
    restarted.watch_clock().await.unwrap();
    assert_eq!(restarted.now().to_string(), "2030-01-15 12:00:00 UTC", "never before the latest trusted time");
}

#[tokio::test]
async fn what_expired_by_mistake_returns_and_what_was_forgotten_does_not() {
    let fixture = MemoryFixture::new().await;
    for subject in ["Ann", "Bob", "Dora"] {
        store(&fixture, subject).await;
    }
    let cid = store(&fixture, "Cid").await;
    rule(&fixture, "greet").await;
    let (whistle, sing) = (rule(&fixture, "whistle").await, rule(&fixture, "sing").await);
    forget(&fixture, "rule", &sing).await;
    let right = fixture.memory.now();
    // The clock was wrong from the start, so the sweep could not know.
    fixture.clock.advance_days(600.0);
    let report = fixture.memory.sweep(None).await.unwrap();
    assert_eq!((report.facts_expired, report.rules_forgotten), (4, 2));
    forget(&fixture, "fact", &cid).await;
    forget(&fixture, "rule", &whistle).await;
    fixture
        .call("memory_store_fact", json!({"subject": "Bob", "predicate": "drinks", "content": "milk"}))
        .await
        .unwrap();
    // Two expired facts of one key: the newer one returns.
    fixture
        .call("memory_store_fact", json!({"subject": "Dora", "predicate": "drinks", "content": "milk"}))
        .await
        .unwrap();
    fixture.db.execute("UPDATE facts SET validity = 'expired' WHERE subject = 'Dora' AND validity = 'active'").await;

    fixture.clock.set(right);
    assert!(is_doubt(fixture.memory.sweep(None).await), "the clock is behind the mark");
    fixture.memory.accept_clock().await.unwrap();
    let counted = fixture.memory.dry_run_sweep(None).await.unwrap();
    let report = fixture.memory.sweep(None).await.unwrap();
    assert_eq!((report.facts_recovered, report.rules_recovered), (2, 1));
    assert_eq!(counted, report);
    assert_eq!(
        one(&fixture, STATES).await,
        "Ann:active Bob:active Bob:expired Cid:retracted Dora:active Dora:expired episodes:0 \
         greet:known sing:forgotten whistle:forgotten"
    );
    assert_eq!(one(&fixture, "SELECT content FROM facts WHERE subject = 'Dora' AND validity = 'active'").await, "milk");
    let events = "SELECT string_agg(event_type || ' ' || actor, ',' ORDER BY event_type) FROM memory_events
                  WHERE event_type LIKE '%recovered'";
    assert_eq!(
        one(&fixture, events).await,
        "fact_recovered decay_sweep,fact_recovered decay_sweep,rule_recovered decay_sweep"
    );
    assert_eq!(fixture.memory.sweep(None).await.unwrap(), Default::default(), "nothing is left to do");
}

#[tokio::test]
async fn a_hold_outlives_a_restart_and_ends_after_a_steady_hour_or_by_command() {
    let fixture = MemoryFixture::new().await;
    fixture.memory.sweep(None).await.unwrap();
    fixture.clock.jump(TimeDelta::days(10));
    assert!(is_doubt(fixture.memory.sweep(None).await));
    let second = restarted(&fixture);
    assert!(is_doubt(second.sweep(None).await), "the hold is in the database");
    fixture.clock.advance(Duration::from_secs(3601));
    second.sweep(None).await.unwrap();
    fixture.memory.sweep(None).await.unwrap();

    fixture.clock.jump(TimeDelta::days(-10));
    assert!(is_doubt(fixture.memory.sweep(None).await));
    let (_, doubt) = second.accept_clock().await.unwrap();
    assert!(doubt.unwrap().starts_with("the clock jumped from"));
    fixture.memory.watch_clock().await.unwrap();
    assert_eq!(fixture.memory.clock_doubt(), None, "accepted by another process");
    fixture.memory.sweep(None).await.unwrap();
}

#[tokio::test]
async fn a_server_that_was_off_for_a_week_is_not_held_and_one_with_a_clock_far_ahead_is() {
    let fixture = MemoryFixture::new().await;
    fixture.memory.watch_clock().await.unwrap();
    fixture.clock.advance_days(8.0);
    restarted(&fixture).sweep(None).await.unwrap();
    fixture.clock.advance_days(400.0);
    let started = restarted(&fixture);
    assert!(is_doubt(started.sweep(None).await));
    assert!(started.clock_doubt().unwrap().contains("400 days after the last use"));
}
