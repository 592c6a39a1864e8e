//! The scheduler on a real database, with a mock clock.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod woken;

use std::sync::Arc;
use std::time::Duration;

use butler_host::scheduler::{RunError, Scheduler, Trigger};
use butler_memory::jobs::JobRequest;
use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_testkit::MemoryFixture;
use chrono::TimeDelta;
use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::Semaphore;

const JOBS: usize = 7;

async fn rows(fixture: &MemoryFixture, statement: &'static str) -> Vec<String> {
    sqlx::query_scalar(statement).fetch_all(&mut fixture.db.connect().await).await.unwrap()
}

async fn count(fixture: &MemoryFixture, condition: &'static str) -> i64 {
    let statement = format!("SELECT count(*) FROM job_runs WHERE {condition}");
    sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).fetch_one(&mut fixture.db.connect().await).await.unwrap()
}

async fn scheduled(fixture: &MemoryFixture) -> Arc<Scheduler> {
    let scheduler = Scheduler::new(Arc::clone(&fixture.memory), "test:1".to_owned());
    scheduler.declare().await.unwrap();
    scheduler.tick().await.unwrap();
    scheduler
}

async fn tick(scheduler: &Arc<Scheduler>) {
    scheduler.tick().await.unwrap();
    scheduler.idle().await;
}

#[tokio::test]
async fn every_job_runs_on_its_schedule_and_each_run_is_recorded() {
    let fixture = MemoryFixture::new().await;
    let scheduler = scheduled(&fixture).await;
    tick(&scheduler).await;
    assert_eq!(count(&fixture, "true").await, 0, "nothing is due at noon");
    fixture.clock.advance_days(0.999);
    tick(&scheduler).await;
    tick(&scheduler).await;
    let runs = rows(&fixture, "SELECT concat_ws('|', job, status, worker) FROM job_runs ORDER BY job").await;
    assert_eq!(
        runs,
        ["conflicts", "consolidation", "decay_sweep", "episode_cleanup", "inversion", "reembed", "retrain_indexes"]
            .map(|job| format!("{job}|succeeded|test:1"))
    );
    let planned =
        rows(&fixture, "SELECT job FROM schedules WHERE last_run_at IS NOT NULL AND next_run_at > last_run_at").await;
    assert_eq!(planned.len(), JOBS);
    tick(&scheduler).await;
    assert_eq!(count(&fixture, "true").await, 7, "a job runs once per scheduled time");
}

#[tokio::test]
async fn a_schedule_missed_for_three_days_is_caught_up_once() {
    let fixture = MemoryFixture::new().await;
    drop(scheduled(&fixture).await);
    // The host is down for three days.
    fixture.clock.advance_days(3.0);
    let scheduler = scheduled(&fixture).await;
    scheduler.idle().await;
    tick(&scheduler).await;
    assert_eq!(count(&fixture, "trigger = 'catch_up' AND status = 'succeeded'").await, 7);
    assert_eq!(count(&fixture, "true").await, 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn catching_up_learns_from_episodes_before_it_cleans_up() {
    let fixture = MemoryFixture::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let memory = Arc::new(with_runtime(&fixture, Arc::new(Slow(Arc::clone(&gate)))));
    let scheduler = Scheduler::new(memory, "test:1".to_owned());
    scheduler.declare().await.unwrap();
    scheduler.tick().await.unwrap();
    fixture.call("memory_store_episode", json!({"content": "one", "butler": "general"})).await.unwrap();
    // The host is down for eight days, so that the episode would have expired.
    fixture.clock.advance_days(8.0);
    scheduler.tick().await.unwrap();
    while count(&fixture, "job = 'consolidation' AND status = 'running'").await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    scheduler.tick().await.unwrap();
    assert_eq!(count(&fixture, "job = 'episode_cleanup'").await, 0, "cleanup waits for consolidation");
    gate.add_permits(1);
    scheduler.idle().await;
    tick(&scheduler).await;
    let runs = rows(
        &fixture,
        "SELECT concat_ws('|', job, status) FROM job_runs WHERE job IN ('consolidation', 'episode_cleanup') ORDER BY started_at, job",
    )
    .await;
    assert_eq!(runs, ["consolidation|succeeded", "episode_cleanup|succeeded"]);
    let lost =
        rows(&fixture, "SELECT payload::text FROM memory_events WHERE payload ->> 'never_consolidated' = 'true'").await;
    assert_eq!(lost, [""; 0]);
}

#[tokio::test]
async fn jobs_that_delete_wait_while_the_clock_is_wrong_and_run_when_it_is_right() {
    let fixture = MemoryFixture::new().await;
    let scheduler = scheduled(&fixture).await;
    fixture.memory.watch_clock().await.unwrap();
    fixture.clock.advance_days(0.999);
    fixture.clock.jump(TimeDelta::days(400));
    for _ in 0..2 {
        fixture.memory.watch_clock().await.unwrap();
        tick(&scheduler).await;
    }
    assert_eq!(count(&fixture, "job = 'consolidation'").await, 1, "other jobs run");
    assert_eq!(count(&fixture, "job IN ('decay_sweep', 'episode_cleanup')").await, 0);
    let refused = scheduler.run_now("decay_sweep", Trigger::Manual, JobRequest::default()).await.unwrap_err();
    assert!(refused.to_string().contains("the time is in doubt"), "{refused}");
    fixture.clock.jump(TimeDelta::days(-400));
    for _ in 0..2 {
        fixture.memory.watch_clock().await.unwrap();
        tick(&scheduler).await;
    }
    let done = "job IN ('decay_sweep', 'episode_cleanup') AND status = 'succeeded'";
    assert_eq!(count(&fixture, done).await, 2);
}

#[tokio::test]
async fn a_clock_that_jumps_back_does_not_stop_a_job() {
    let fixture = MemoryFixture::new().await;
    let start = fixture.memory.now();
    fixture.clock.advance_days(400.0);
    let scheduler = scheduled(&fixture).await;
    fixture.clock.set(start);
    tick(&scheduler).await;
    let next: chrono::DateTime<chrono::Utc> = sqlx::query_scalar("SELECT max(next_run_at) FROM schedules")
        .fetch_one(&mut fixture.db.connect().await)
        .await
        .unwrap();
    assert!(next - start < TimeDelta::days(2), "{next}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_replicas_run_each_job_once() {
    let fixture = MemoryFixture::new().await;
    drop(scheduled(&fixture).await);
    fixture.clock.advance_days(0.999);
    let replicas: Vec<_> =
        (0..2).map(|n| Scheduler::new(Arc::clone(&fixture.memory), format!("replica:{n}"))).collect();
    let ticks = replicas.iter().map(|replica| {
        let replica = Arc::clone(replica);
        tokio::spawn(async move {
            for _ in 0..3 {
                tick(&replica).await;
            }
        })
    });
    for done in futures::future::join_all(ticks).await {
        done.unwrap();
    }
    assert_eq!(count(&fixture, "status = 'succeeded'").await, 7);
    assert_eq!(count(&fixture, "true").await, 7);
}

/// A runtime that answers when the semaphore has a permit.
struct Slow(Arc<Semaphore>);

impl Runtime for Slow {
    fn describe(&self) -> String {
        "a slow model".to_owned()
    }

    fn complete(&self, _: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        Box::pin(async {
            self.0.acquire().await.unwrap().forget();
            Ok(Completion { text: r#"{"new_facts": []}"#.to_owned(), ..Completion::default() })
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overlapping_runs_are_impossible() {
    let fixture = MemoryFixture::new().await;
    let gate = Arc::new(Semaphore::new(0));
    let memory = Arc::new(with_runtime(&fixture, Arc::new(Slow(Arc::clone(&gate)))));
    fixture.call("memory_store_episode", json!({"content": "one", "butler": "general"})).await.unwrap();
    let scheduler = Scheduler::new(Arc::clone(&memory), "first:1".to_owned());
    scheduler.declare().await.unwrap();
    scheduler.tick().await.unwrap();
    fixture.clock.advance_days(0.3);
    scheduler.tick().await.unwrap();
    while count(&fixture, "job = 'consolidation' AND status = 'running'").await == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The job is due again and started manually, on this replica and on another.
    fixture.clock.advance_days(0.3);
    scheduler.tick().await.unwrap();
    let other = Scheduler::new(memory, "second:2".to_owned());
    other.tick().await.unwrap();
    for replica in [&scheduler, &other] {
        let refused = replica.run_now("consolidation", Trigger::Manual, JobRequest::default()).await;
        match refused {
            Err(error @ RunError::Busy { .. }) => {
                assert!(
                    error.to_string().starts_with("consolidation is already running, on first:1 since 20"),
                    "{error}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count(&fixture, "job = 'consolidation'").await, 1);
    gate.add_permits(1);
    scheduler.idle().await;
    other.idle().await;
    assert_eq!(count(&fixture, "job = 'consolidation' AND status = 'succeeded'").await, 1);
}

#[tokio::test]
async fn a_run_whose_process_died_is_recorded_as_failed_and_the_job_runs_again() {
    let fixture = MemoryFixture::new().await;
    let scheduler = scheduled(&fixture).await;
    fixture.db.execute("INSERT INTO job_runs (job, trigger, worker, started_at) VALUES ('decay_sweep', 'schedule', 'dead:9', '2030-01-15T12:00:00Z')").await;
    fixture.clock.advance_days(0.999);
    tick(&scheduler).await;
    let runs = rows(&fixture, "SELECT concat_ws('|', status, coalesce(error, '')) FROM job_runs WHERE job = 'decay_sweep' ORDER BY started_at").await;
    assert_eq!(runs, ["failed|the worker went away before it was done", "succeeded|"]);
}

#[tokio::test]
async fn a_job_that_fails_is_recorded_with_its_error_and_keeps_its_schedule() {
    let fixture = MemoryFixture::new().await;
    let scheduler = scheduled(&fixture).await;
    fixture.db.execute("ALTER TABLE facts RENAME TO hidden").await;
    fixture.clock.advance_days(0.999);
    tick(&scheduler).await;
    tick(&scheduler).await;
    let runs = rows(&fixture, "SELECT error FROM job_runs WHERE job = 'decay_sweep' AND status = 'failed'").await;
    assert!(runs.len() == 1 && runs[0].contains("facts"), "{runs:?}");
    assert_eq!(
        count(&fixture, "job = 'episode_cleanup' AND status = 'succeeded'").await,
        1,
        "other jobs are not affected"
    );
    fixture.db.execute("ALTER TABLE hidden RENAME TO facts").await;
    fixture.clock.advance_days(1.0);
    tick(&scheduler).await;
    assert_eq!(count(&fixture, "job = 'decay_sweep' AND status = 'succeeded'").await, 1);
}

#[tokio::test]
async fn disabled_schedules_run_no_jobs_but_manual_runs_work() {
    let mut config = MemoryConfig::default();
    config.schedule.enabled = false;
    let fixture = MemoryFixture::with_config(config).await;
    let scheduler = scheduled(&fixture).await;
    fixture.clock.advance_days(2.0);
    tick(&scheduler).await;
    assert_eq!(count(&fixture, "true").await, 0);
    scheduler.run_now("decay_sweep", Trigger::Manual, JobRequest::default()).await.unwrap();
    assert_eq!(count(&fixture, "trigger = 'manual' AND status = 'succeeded'").await, 1, "a manual run still works");
}

#[tokio::test]
async fn a_changed_schedule_is_replanned() {
    let fixture = MemoryFixture::new().await;
    drop(scheduled(&fixture).await);
    let mut config = MemoryConfig::default();
    config.schedule.decay_sweep = "0 13 * * *".to_owned();
    config.schedule.time_zone = "Europe/Berlin".to_owned();
    let memory = Memory::new(MemoryParts { config, ..parts(&fixture) });
    let scheduler = Scheduler::new(Arc::new(memory), "test:2".to_owned());
    scheduler.declare().await.unwrap();
    tick(&scheduler).await;
    let next = rows(
        &fixture,
        "SELECT to_char(next_run_at AT TIME ZONE 'UTC', 'DD HH24') FROM schedules WHERE job = 'decay_sweep'",
    )
    .await;
    // Noon in UTC is 13:00 in Berlin, so the next run is tomorrow, or today if the jitter delays it.
    assert!(next == ["16 12"] || next == ["15 12"], "{next:?}");
}

#[tokio::test]
async fn an_unknown_job_is_an_error_and_records_no_run() {
    let fixture = MemoryFixture::new().await;
    let scheduler = scheduled(&fixture).await;
    let error = scheduler.run_now("consolidate", Trigger::Manual, JobRequest::default()).await.unwrap_err();
    assert!(error.to_string().contains("there is no job \"consolidate\""), "{error}");
    assert_eq!(count(&fixture, "true").await, 0, "no run is recorded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_releases_what_a_running_job_holds() {
    let fixture = MemoryFixture::new().await;
    let memory = Arc::new(with_runtime(&fixture, Arc::new(Slow(Arc::new(Semaphore::new(0))))));
    fixture.call("memory_store_episode", json!({"content": "one", "butler": "general"})).await.unwrap();
    let scheduler = Scheduler::new(memory, "test:1".to_owned());
    scheduler.declare().await.unwrap();
    scheduler.tick().await.unwrap();
    fixture.clock.advance_days(0.3);
    scheduler.tick().await.unwrap();
    while rows(&fixture, "SELECT content FROM episodes WHERE lease_token IS NOT NULL").await.is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    scheduler.shut_down().await;
    assert_eq!(
        rows(&fixture, "SELECT consolidation_status::text FROM episodes WHERE lease_token IS NULL").await,
        ["pending"]
    );
}

fn parts(fixture: &MemoryFixture) -> MemoryParts {
    MemoryParts {
        butler: fixture.memory.butler().clone(),
        db: fixture.db.database().clone(),
        embedder: fixture.embedder.clone(),
        clock: fixture.clock.clone(),
        config: fixture.memory.config().clone(),
    }
}

fn with_runtime(fixture: &MemoryFixture, runtime: Arc<dyn Runtime>) -> Memory {
    Memory::new(parts(fixture)).with_runtime(runtime)
}
