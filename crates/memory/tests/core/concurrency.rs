//! Concurrent writers of one key, concurrent marks on one rule, and writers during a sweep.

use std::sync::Arc;

use butler_testkit::MemoryFixture;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{count, entity, rows, rule};

const WRITERS: usize = 32;

async fn write_at_once(memory: &Arc<MemoryFixture>, entity: Option<Value>) -> Vec<Value> {
    let calls = (0..WRITERS).map(|n| {
        let (memory, entity) = (memory.clone(), entity.clone());
        tokio::spawn(async move {
            let arguments =
                json!({"subject": "user", "predicate": "mood", "content": format!("mood {n}"), "entity_id": entity});
            memory.call("memory_store_fact", arguments).await
        })
    });
    join_all(calls).await.into_iter().map(|done| done.unwrap().expect("no error to any caller")).collect()
}

/// Checks for one active fact with an unbroken chain back to the first, with all links and events.
async fn assert_one_chain(memory: &MemoryFixture, length: usize) {
    assert_eq!(count(memory, "facts WHERE validity = 'active'").await, 1);
    assert_eq!(count(memory, "facts WHERE validity = 'superseded'").await, length as i64 - 1);
    let walk = "WITH RECURSIVE chain AS (
                    SELECT id, supersedes_id FROM facts WHERE validity = 'active'
                    UNION SELECT f.id, f.supersedes_id FROM facts f JOIN chain c ON f.id = c.supersedes_id)
                SELECT count(*) AS n, count(DISTINCT supersedes_id) AS parents FROM chain";
    let chain = &rows(memory, walk).await[0];
    assert_eq!((&chain["n"], &chain["parents"]), (&json!(length), &json!(length - 1)));
    let linked = "memory_links l JOIN facts f ON l.source_id = f.id AND l.target_id = f.supersedes_id AND l.relation = 'supersedes'";
    assert_eq!(count(memory, linked).await, length as i64 - 1);
    assert_eq!(count(memory, "memory_events WHERE event_type = 'fact_created'").await, length as i64);
    let superseded = "memory_events e JOIN facts f ON f.supersedes_id = e.memory_id
                      WHERE e.event_type = 'fact_superseded' AND e.payload ->> 'superseded_by' = f.id::text";
    assert_eq!(count(memory, superseded).await, length as i64 - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_concurrent_writers_of_one_key_leave_one_active_fact_and_one_unbroken_chain() {
    let memory = Arc::new(MemoryFixture::new().await);
    let answers = write_at_once(&memory, None).await;
    assert_one_chain(&memory, WRITERS).await;
    let firsts = answers.iter().filter(|answer| answer["superseded_id"].is_null()).count();
    assert_eq!(firsts, 1, "each answer names the fact it superseded");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn thirty_two_concurrent_writers_about_one_entity_leave_one_active_fact() {
    let memory = Arc::new(MemoryFixture::new().await);
    let anna = entity(&memory, "default", "Anna").await;
    write_at_once(&memory, Some(anna)).await;
    assert_one_chain(&memory, WRITERS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_marks_on_one_rule_lose_no_count() {
    let memory = Arc::new(MemoryFixture::new().await);
    let id = rule(&memory, "Ask first").await;
    let marks = (0..48).map(|n| {
        let (memory, id) = (memory.clone(), id.clone());
        tokio::spawn(async move {
            let (tool, arguments) = if n % 3 == 0 {
                ("memory_mark_harmful", json!({"rule_id": id, "reason": format!("reason {n}")}))
            } else {
                ("memory_mark_helpful", json!({"rule_id": id}))
            };
            memory.call(tool, arguments).await.unwrap()
        })
    });
    join_all(marks).await.into_iter().for_each(|done| drop(done.unwrap()));
    let stored = crate::row(&memory, "rules", &id).await;
    assert_eq!(
        (&stored["applied_count"], &stored["success_count"], &stored["harmful_count"]),
        (&json!(48), &json!(32), &json!(16))
    );
    assert_eq!(stored["metadata"]["harmful_reasons"].as_array().unwrap().len(), 16);
    assert_eq!(count(&memory, "rule_applications").await, 48);
    assert_eq!(count(&memory, "memory_events WHERE event_type LIKE 'rule_marked_%'").await, 48);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn inversion_beside_marks_happens_once_and_loses_no_mark() {
    let memory = Arc::new(MemoryFixture::new().await);
    let id = rule(&memory, "guess").await;
    let marking = (0..24).map(|n| {
        let (memory, id) = (memory.clone(), id.clone());
        tokio::spawn(async move {
            memory.call("memory_mark_harmful", json!({"rule_id": id, "reason": format!("r{n}")})).await.unwrap();
            memory.memory.invert_pending(None).await.unwrap().rules_inverted
        })
    });
    let inverted: u64 = join_all(marking).await.into_iter().map(Result::unwrap).sum();
    let inverted = inverted + memory.memory.invert_pending(None).await.unwrap().rules_inverted;
    let stored = crate::row(&memory, "rules", &id).await;
    assert_eq!((inverted, &stored["harmful_count"]), (1, &json!(24)));
    assert_eq!(stored["metadata"]["harmful_reasons"].as_array().unwrap().len(), 24);
    assert!(stored["content"].as_str().unwrap().starts_with("ANTI-PATTERN: Do NOT guess. "));
    assert_eq!(stored["metadata"]["original_content"], "guess");
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'rule_inverted'").await, 1);
}

/// Concurrent store, forget, confirm and sweep: the only errors name a state, each key has at most one active fact, and
/// each fact has exactly the events for its state.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn store_forget_confirm_and_sweep_racing() {
    let memory = Arc::new(MemoryFixture::new().await);
    let old: Vec<Value> = join_all((0..8).map(|n| {
        let memory = memory.clone();
        async move { crate::fact(&memory, "user", &format!("p{n}"), "old").await }
    }))
    .await;
    memory.clock.advance_days(250.0);
    let mut tasks = Vec::new();
    for round in 0..6 {
        for (n, id) in old.iter().enumerate() {
            let (memory, id) = (memory.clone(), id.clone());
            tasks.push(tokio::spawn(async move {
                match (round + n) % 4 {
                    0 => {
                        memory.memory.sweep(None).await.expect("the sweep");
                    }
                    1 => drop(memory.call("memory_forget", json!({"type": "fact", "id": id})).await.expect("forget")),
                    2 => {
                        let confirmed = memory.call("memory_confirm", json!({"type": "fact", "id": id})).await;
                        assert!(confirmed.map_or_else(|error| error.code.as_str() == "invalid_state", |_| true));
                    }
                    _ => drop(crate::fact(&memory, "user", &format!("p{n}"), &format!("new {round}")).await),
                }
            }));
        }
    }
    join_all(tasks).await.into_iter().for_each(|done| done.unwrap());
    let doubled = "(SELECT predicate FROM facts WHERE validity = 'active' GROUP BY predicate HAVING count(*) > 1) x";
    assert_eq!(count(&memory, doubled).await, 0);
    for (validity, event) in
        [("superseded", "fact_superseded"), ("retracted", "fact_forgotten"), ("expired", "fact_expired")]
    {
        let unrecorded = format!(
            "facts f WHERE validity = '{validity}' AND 1 <> (SELECT count(*) FROM memory_events e WHERE e.memory_id = f.id AND e.event_type = '{event}')"
        );
        assert_eq!(count(&memory, &unrecorded).await, 0, "{validity}");
    }
    let broken = "facts f WHERE supersedes_id IS NOT NULL AND NOT EXISTS (SELECT FROM facts o WHERE o.id = f.supersedes_id AND o.validity IN ('superseded', 'retracted'))";
    assert_eq!(count(&memory, broken).await, 0);
}
