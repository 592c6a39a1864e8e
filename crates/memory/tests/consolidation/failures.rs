use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use butler_memory::runtime::RuntimeError;
use serde_json::json;

use crate::world::{Model, World, episodes_in, one_fact_each};

const STATUS: &str = "SELECT concat_ws('|', consolidation_status, consolidated, retry_count, consolidation_attempts,
    lease_token IS NULL, last_error = last_consolidation_error) FROM episodes ORDER BY created_at";

#[tokio::test]
async fn an_empty_or_invalid_answer_is_a_failed_attempt_and_the_episode_is_not_consolidated() {
    for (answer, error) in [
        ("I could not find anything worth keeping.", "No JSON block found in consolidation output"),
        ("", "the runtime returned an empty answer"),
        ("   \n", "the runtime returned an empty answer"),
        ("{\"thoughts\": \"none\"}", ""),
        (
            "{\"new_facts\": [{\"subject\": \"\", \"predicate\": \"x\", \"content\": \"y\"}]}",
            "no action of the answer is valid",
        ),
    ] {
        let world = World::new(Model::says(answer)).await;
        world.episode("one").await;
        let report = world.run().await;
        assert_eq!((report.totals.failed, report.totals.consolidated), (1, 0), "{answer:?}");
        assert!(report.errors[0].contains(error), "{answer:?}: {:?}", report.errors);
        assert_eq!(world.one(STATUS).await, "failed|f|1|1|t|t", "{answer:?}");
    }
}

#[tokio::test]
async fn a_failed_episode_is_retried_with_backoff_and_becomes_a_dead_letter_after_5_attempts() {
    let model = Model::says("garbage");
    let world = World::new(model.clone()).await;
    world.episode("one").await;
    for (attempt, minutes) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
        let report = world.run().await;
        assert_eq!(report.totals.failed, 1, "attempt {attempt}");
        world.fixture.clock.advance(Duration::from_secs(minutes * 60 - 1));
        let early = world.run().await;
        assert_eq!((early.totals.episodes, early.totals.waiting), (0, 1), "not before the retry is due");
        world.fixture.clock.advance(Duration::from_secs(1));
    }
    let report = world.run().await;
    assert_eq!((report.totals.failed, report.totals.dead_lettered), (0, 1));
    assert_eq!(world.one(STATUS).await, "dead_letter|f|5|5|t|t");
    assert_eq!(model.sessions().len(), 5);
    world.fixture.clock.advance_days(1.0);
    assert_eq!(world.run().await.totals.episodes, 0, "a dead letter is not retried");
    let events =
        "SELECT string_agg(event_type || count::text, ' ' ORDER BY event_type) FROM (SELECT event_type, count(*)
                  FROM memory_events WHERE event_type LIKE 'episode_%' GROUP BY 1) e";
    assert_eq!(world.one(events).await, "episode_consolidation_failed4 episode_created1 episode_dead_lettered1");
}

#[tokio::test]
async fn a_dead_letter_can_be_listed_and_requeued() {
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.max_attempts = 1;
    let world = World::with_config(Model::says("garbage"), config).await;
    let id = world.episode("one").await;
    world.run().await;
    let call = world.fixture.as_test();
    let letters = world.memory.dead_letters(&call, 10).await.unwrap();
    assert_eq!((letters.len(), letters[0].id, letters[0].attempts), (1, id.0, 1));
    assert_eq!(letters[0].error.as_deref(), Some("No JSON block found in consolidation output"));
    assert_eq!(world.memory.requeue_dead_letters(&call, Some(&[id])).await.unwrap(), 1);
    assert_eq!(world.memory.requeue_dead_letters(&call, None).await.unwrap(), 0);
    let replica = world.replica(Model::of_facts());
    let report = replica.run_consolidation(&Default::default()).await.unwrap();
    assert_eq!(report.totals.consolidated, 1);
}

#[tokio::test]
async fn one_episode_that_always_fails_does_not_affect_the_others() {
    let model = Model::new(|session| {
        if session.prompt.contains("poison") { Ok("I refuse.".to_owned()) } else { Ok(one_fact_each(&session.prompt)) }
    });
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.batch_size = 16;
    let world = World::with_config(model, config).await;
    for n in 0..15 {
        world.episode(&format!("episode {n}")).await;
    }
    world.episode("poison").await;
    for _ in 0..5 {
        world.run().await;
        world.fixture.clock.advance(Duration::from_secs(3600));
    }
    let left = "SELECT string_agg(content || ' ' || consolidation_status, ',') FROM episodes WHERE NOT consolidated";
    assert_eq!(world.one(left).await, "poison dead_letter");
}

#[tokio::test]
async fn consolidation_group_failure_isolation() {
    let model = Model::new(|session| {
        if session.prompt.contains("butler \"broken\"") {
            Err(RuntimeError::Malformed { url: "http://x".to_owned(), reason: "half an answer".to_owned() })
        } else {
            Ok(one_fact_each(&session.prompt))
        }
    });
    let world = World::new(model).await;
    world.episode_of("default", "broken", "one").await;
    world.episode_of("default", "sound", "two").await;
    let report = world.run().await;
    assert_eq!((report.totals.failed, report.totals.consolidated), (1, 1));
    assert_eq!(report.errors.len(), 1);
    assert!(report.errors[0].starts_with("default/broken: ") && report.errors[0].contains("half an answer"));
}

fn out_of_order() -> RuntimeError {
    RuntimeError::Failed { program: "model".to_owned(), status: "exit status: 1".to_owned(), stderr: String::new() }
}

#[tokio::test]
async fn a_broken_runtime_costs_only_one_batch_an_attempt() {
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.batch_size = 2;
    let model = Model::new(|_| Err(out_of_order()));
    let world = World::with_config(model.clone(), config).await;
    for n in 0..6 {
        world.episode(&format!("episode {n}")).await;
    }
    let report = world.run().await;
    assert_eq!((report.totals.failed, model.sessions().len()), (2, 1));
    assert_eq!(world.one("SELECT count(*) FROM episodes WHERE retry_count = 0").await, "4");
}

#[tokio::test]
async fn individual_action_failures_do_not_block_others() {
    let world = World::new(Model::says(
        json!({"new_facts": [{"subject": "A", "predicate": "is", "content": "good"},
                             {"subject": "B", "predicate": "is", "content": "refused"},
                             {"subject": "C", "predicate": "is", "content": "good"}],
               "updated_facts": [{"target_id": "00000000-0000-0000-0000-00000000dead", "subject": "x", "predicate": "y", "content": "z"}],
               "new_rules": [{"content": "Go on."}]})
        .to_string(),
    ))
    .await;
    // A constraint of the database rejects one of them.
    world.fixture.db.execute("ALTER TABLE facts ADD CONSTRAINT test_refuses CHECK (content <> 'refused')").await;
    world.episode("one").await;
    let report = world.run().await;
    assert_eq!((report.totals.facts_created, report.totals.rules_created, report.totals.refused), (2, 1, 2));
    assert_eq!(report.totals.consolidated, 1);
    let errors = report.errors.join("\n");
    assert!(errors.contains("new fact B is: ") && errors.contains("no active fact has this id"), "{errors}");
    assert_eq!(world.one("SELECT string_agg(subject, ',' ORDER BY subject) FROM facts").await, "A,C");
}

#[tokio::test]
async fn source_episodes_are_consolidated_even_if_every_action_was_rejected() {
    let world = World::new(Model::says(
        r#"{"updated_facts": [{"target_id": "00000000-0000-0000-0000-00000000dead", "subject": "x", "predicate": "y", "content": "z"}]}"#,
    ))
    .await;
    world.episode("one").await;
    let report = world.run().await;
    assert_eq!((report.totals.failed, report.totals.consolidated, report.totals.refused), (0, 1, 1));
    assert!(report.errors[0].contains("no active fact has this id"), "{:?}", report.errors);
    assert_eq!(world.one("SELECT count(*) FROM facts").await, "0");
}

#[tokio::test]
async fn if_the_database_fails_for_every_action_the_attempt_fails_and_nothing_is_written() {
    let world = World::new(Model::of_facts()).await;
    world.fixture.db.execute("ALTER TABLE facts ADD CONSTRAINT test_refuses CHECK (content = '')").await;
    world.episode("one").await;
    let report = world.run().await;
    assert_eq!((report.totals.failed, report.totals.consolidated), (1, 0));
    assert_eq!(world.one(STATUS).await, "failed|f|1|1|t|t");
}

#[tokio::test]
async fn lists_that_are_null_or_need_a_repair_are_empty_and_the_episode_is_consolidated() {
    for answer in [r#"{"new_facts": null, "new_rules": []}"#, "{'new_facts': [],}", r#"{"confirmations": []}"#] {
        let world = World::new(Model::says(answer)).await;
        world.episode("one").await;
        let report = world.run().await;
        assert_eq!((report.totals.failed, report.totals.consolidated), (0, 1), "{answer}");
    }
}

#[tokio::test]
async fn an_internal_error_counts_as_an_attempt_so_that_it_is_not_retried_forever() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
    world.fixture.db.execute("ALTER TABLE rules RENAME TO hidden").await;
    let report = world.run().await;
    assert_eq!((report.totals.failed, report.totals.consolidated), (1, 0), "{report:?}");
    assert_eq!(world.one(STATUS).await, "failed|f|1|1|t|t");
    world.fixture.db.execute("ALTER TABLE hidden RENAME TO rules").await;
    world.fixture.clock.advance(Duration::from_secs(120));
    assert_eq!(world.run().await.totals.consolidated, 1);
}

#[tokio::test]
async fn a_fact_of_another_tenant_cannot_be_updated() {
    let model = Model::new(|session| {
        let theirs = session.prompt.split("target: ").nth(1).map(|rest| rest[..36].to_owned());
        Ok(match theirs {
            Some(id) => {
                json!({"updated_facts": [{"target_id": id, "subject": "x", "predicate": "y", "content": "stolen"}],
                               "confirmations": [id]})
                .to_string()
            }
            None => one_fact_each(&session.prompt),
        })
    });
    let world = World::new(model).await;
    world.episode_of("acme", "general", "theirs").await;
    world.run().await;
    let id = world.one("SELECT id FROM facts").await;
    world.episode_of("default", "general", &format!("target: {id}")).await;
    world.run().await;
    assert_eq!(world.one("SELECT concat_ws('|', count(*), max(content)) FROM facts").await, "1|theirs happened");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_lost_its_lease_writes_nothing() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
    // The lease expires before the model answers, and another worker leases and consolidates the episode.
    let thief = world.replica(Model::of_facts());
    let clock = world.fixture.clock.clone();
    let slow = world.replica(Model::new(move |session| {
        clock.advance(Duration::from_secs(3600));
        let all = Default::default();
        let run = thief.run_consolidation(&all);
        let stolen = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(run)).unwrap();
        assert_eq!(stolen.totals.consolidated, 1);
        Ok(one_fact_each(&session.prompt).replace("happened", "happened late"))
    }));
    let report = slow.run_consolidation(&Default::default()).await.unwrap();
    assert_eq!((report.totals.facts_created, report.totals.consolidated), (0, 0), "{report:?}");
    assert!(report.errors[0].contains("lease was lost"), "{:?}", report.errors);
    assert_eq!(world.one("SELECT string_agg(content, ',') FROM facts").await, "one happened");
}

#[tokio::test]
async fn the_lease_of_a_dead_worker_expires_and_blocks_its_group_until_then() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
    world.episode("two").await;
    let now = world.memory.now();
    sqlx::query("UPDATE episodes SET lease_token = gen_random_uuid(), leased_until = $1 WHERE content = 'one'")
        .bind(now + chrono::TimeDelta::minutes(2))
        .execute(&mut world.fixture.db.connect().await)
        .await
        .unwrap();
    assert_eq!(world.run().await.totals.consolidated, 0, "the later episode waits for the earlier one");
    world.fixture.clock.advance(Duration::from_secs(121));
    assert_eq!(world.run().await.totals.consolidated, 2);
}

#[tokio::test]
async fn stopping_releases_the_batch_at_once() {
    struct Never;
    impl butler_memory::runtime::Runtime for Never {
        fn describe(&self) -> String {
            "a model that never answers".to_owned()
        }
        fn complete(
            &self,
            _: butler_memory::runtime::Session,
        ) -> futures::future::BoxFuture<'_, Result<butler_memory::runtime::Completion, RuntimeError>> {
            Box::pin(std::future::pending())
        }
    }
    let world = World::without_runtime().await;
    world.episode("one").await;
    let memory = butler_memory::Memory::new(butler_memory::MemoryParts {
        butler: world.memory.butler().clone(),
        db: world.memory.db().clone(),
        embedder: world.memory.embedder().clone(),
        clock: world.fixture.clock.clone(),
        config: world.memory.config().clone(),
    })
    .with_runtime(std::sync::Arc::new(Never));
    let request = butler_memory::consolidate::ConsolidationRequest::default();
    let stop = request.stop.clone();
    let run = tokio::spawn(async move { memory.run_consolidation(&request).await });
    while world.one("SELECT count(*) FROM episodes WHERE lease_token IS NOT NULL").await == "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    run.await.unwrap().unwrap();
    assert_eq!(world.one(STATUS).await, "pending|f|0|0|t");
}

#[tokio::test]
async fn a_truncated_answer_keeps_its_complete_actions() {
    let whole = r#"{"new_facts": [{"subject": "A", "predicate": "is", "content": "whole"}, {"subject": "B", "predicate": "is", "cont"#;
    let world = World::new(Model::says(whole)).await;
    world.episode("one").await;
    let report = world.run().await;
    assert_eq!((report.totals.facts_created, report.totals.consolidated), (1, 1));
    assert!(report.totals.parse_errors > 0);
}

#[tokio::test]
async fn a_clock_that_jumps_does_not_lose_an_episode() {
    let calls = AtomicUsize::new(0);
    let model = Model::new(move |session| {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 {
            Ok("garbage".to_owned())
        } else {
            Ok(one_fact_each(&session.prompt))
        }
    });
    let world = World::new(model).await;
    world.fixture.clock.advance_days(2.0);
    world.episode("one").await;
    world.run().await;
    // The clock goes back by two days. The retry becomes due when the clock reaches its time again.
    let start: butler_domain::Timestamp = butler_testkit::START.parse().unwrap();
    world.fixture.clock.set(start);
    assert_eq!(world.run().await.totals.waiting, 1);
    world.fixture.clock.advance_days(3.0);
    assert_eq!(world.run().await.totals.consolidated, 1);
}

#[tokio::test]
async fn episodes_that_do_not_fit_into_a_prompt_are_in_the_next() {
    let mut config = butler_memory::MemoryConfig::default();
    config.consolidation.prompt_token_cap = 3_000;
    let model = Model::says(r#"{"new_facts": []}"#);
    let world = World::with_config(model.clone(), config).await;
    for n in 0..6 {
        world.episode(&format!("episode {n} {}", "word ".repeat(500))).await;
    }
    let report = world.run().await;
    assert_eq!(report.totals.consolidated, 6);
    assert!(report.totals.batches > 1, "{report:?}");
    let seen: Vec<String> = model.sessions().iter().flat_map(|s| episodes_in(&s.prompt)).map(|(id, _)| id).collect();
    assert_eq!(seen.len(), 6, "each in one prompt");
}

#[tokio::test]
async fn a_row_that_the_program_cannot_read_stops_only_its_own_group() {
    let world = World::new(Model::of_facts()).await;
    for tenant in ["a", "b", "c"] {
        world.episode_of(tenant, "general", "one").await;
    }
    let poison = "ALTER TABLE episodes DROP CONSTRAINT episodes_times_plausible;
        UPDATE episodes SET created_at = 'infinity' WHERE tenant_id = 'b';
        INSERT INTO episodes (tenant_id, butler, content) VALUES ('', 'general', 'of nobody')";
    world.fixture.db.execute(poison).await;
    let report = world.run().await;
    assert_eq!(report.totals.consolidated, 2);
    assert!(report.errors.iter().any(|error| error.starts_with("b/general: ")), "{:?}", report.errors);
    assert!(report.errors.iter().any(|error| error.contains("tenant_id")), "{:?}", report.errors);
    let learned = "SELECT string_agg(tenant_id, ',' ORDER BY tenant_id) FROM episodes WHERE consolidated";
    assert_eq!(world.one(learned).await, "a,c");
}

#[tokio::test]
async fn a_run_in_which_every_group_failed_is_failed_and_names_the_first_cause() {
    let world = World::new(Model::new(|session| match session.prompt.contains("useful") {
        true => Ok(one_fact_each(&session.prompt)),
        false => Err(RuntimeError::Malformed { url: "http://x".to_owned(), reason: "the endpoint refused".to_owned() }),
    }))
    .await;
    world.episode("one").await;
    world.episode_of("default", "health", "two").await;
    let report = world.run().await;
    assert_eq!((report.status.as_str(), report.totals.failed), ("failed", 2), "{report:?}");
    let error = report.error.unwrap();
    assert!(error.starts_with("default/general: ") && error.contains("the endpoint refused"), "{error}");

    world.fixture.clock.advance_days(1.0);
    world.episode_of("default", "work", "useful").await;
    let partly = world.run().await;
    assert_eq!((partly.status.as_str(), partly.error.as_deref()), ("succeeded", None), "{partly:?}");
    assert_eq!(world.run().await.status, "succeeded", "nothing was due");
}

#[tokio::test]
async fn a_lease_or_retry_that_a_wrong_clock_wrote_does_not_block_a_group() {
    let world = World::new(Model::of_facts()).await;
    world.episode("one").await;
    world.episode("two").await;
    let wrong = "UPDATE episodes SET lease_token = gen_random_uuid(), leased_until = created_at + interval '400 days'
                 WHERE content = 'one';
                 UPDATE episodes SET consolidation_status = 'failed', retry_count = 1,
                                     next_consolidation_retry_at = created_at + interval '400 days' WHERE content = 'two'";
    world.fixture.db.execute(wrong).await;
    assert_eq!(world.run().await.totals.consolidated, 2);
}
