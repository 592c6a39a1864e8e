//! Merges that run concurrently with other merges and with writers.

use std::sync::Arc;

use butler_memory::tool::ToolError;
use butler_testkit::MemoryFixture;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor};

use super::{fact, get, id, merge, one, person, resolve, rows, stored_fact, try_fact};

#[tokio::test(flavor = "multi_thread")]
async fn two_opposite_merges_cannot_deadlock_and_one_wins() {
    let memory = MemoryFixture::new().await;
    for round in 0..15 {
        let a = person(&memory, &format!("A{round}"), &[]).await;
        let b = person(&memory, &format!("B{round}"), &[]).await;
        let on_a = fact(&memory, &a, "p", "a").await;
        let on_b = fact(&memory, &b, "p", "b").await;
        let (one_way, other_way) = tokio::join!(merge(&memory, &a, &b), merge(&memory, &b, &a));
        let lost = match (one_way, other_way) {
            (Ok(_), Err(lost)) | (Err(lost), Ok(_)) => lost,
            both => panic!("exactly one merges: {both:?}"),
        };
        assert_eq!(lost.code.as_str(), "invalid_state", "{}", lost.message);
        let live = if get(&memory, &a).await["merged_into"].is_null() { &a } else { &b };
        for stored in [&on_a, &on_b] {
            assert_eq!(&stored_fact(&memory, stored).await["entity_id"], &json!(live));
        }
    }
}

/// Waits until this many sessions of the test's database are waiting for a lock.
async fn waiting(memory: &MemoryFixture, wanted: i64) {
    let sql = "SELECT count(*) AS n FROM pg_stat_activity
               WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while one(memory, sql).await["n"].as_i64() < Some(wanted) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_that_is_linked_while_its_name_gets_another_value_stays_with_the_entity() {
    let memory = Arc::new(MemoryFixture::new().await);
    let dahl = person(&memory, "Eve Dahl", &["Eve"]).await;
    person(&memory, "Eve Berg", &["Eve"]).await;
    let city = |content: &str| json!({ "subject": "Eve", "predicate": "city", "content": content });
    let rome = id(&memory.call("memory_store_fact", city("Rome")).await.unwrap()["id"]);
    let mut linker = memory.db.connect().await;
    let link = format!("BEGIN; UPDATE facts SET entity_id = '{dahl}' WHERE id = '{rome}'");
    linker.execute(sqlx::raw_sql(AssertSqlSafe(link))).await.unwrap();
    let store = {
        let (memory, paris) = (memory.clone(), city("Paris"));
        tokio::spawn(async move { memory.call("memory_store_fact", paris).await })
    };
    waiting(&memory, 1).await;
    linker.execute(sqlx::raw_sql("COMMIT")).await.unwrap();
    let paris = store.await.unwrap().unwrap();
    assert!(paris["superseded_id"].is_null(), "{paris}");
    let kept = stored_fact(&memory, &rome).await;
    assert_eq!((&kept["validity"], &kept["entity_id"]), (&json!("active"), &json!(dahl)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_stored_during_a_merge_is_rejected_and_the_error_names_the_survivor() {
    let memory = Arc::new(MemoryFixture::new().await);
    let [a, b] = [person(&memory, "A", &[]).await, person(&memory, "B", &[]).await];
    // Rows are locked in the order of their ids, so the merge locks the source and waits for the target.
    let (source, target) = if a < b { (a, b) } else { (b, a) };
    let mut holder = memory.db.connect().await;
    let hold = format!("BEGIN; SELECT FROM entities WHERE id = '{target}' FOR UPDATE");
    holder.execute(sqlx::raw_sql(AssertSqlSafe(hold))).await.unwrap();
    let spawn_merge = {
        let (memory, source, target) = (memory.clone(), source.clone(), target.clone());
        tokio::spawn(async move { merge(&memory, &source, &target).await })
    };
    waiting(&memory, 1).await;
    let spawn_fact = {
        let (memory, source) = (memory.clone(), source.clone());
        tokio::spawn(async move { try_fact(&memory, &source, "p", "too late").await })
    };
    waiting(&memory, 2).await;
    holder.execute(sqlx::raw_sql("COMMIT")).await.unwrap();
    spawn_merge.await.unwrap().unwrap();
    let refused = spawn_fact.await.unwrap().unwrap_err();
    assert!(refused.message.contains(&target), "{}", refused.message);
    assert!(rows(&memory, "SELECT id FROM facts").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fact_stored_just_before_a_merge_moves_with_it() {
    let memory = Arc::new(MemoryFixture::new().await);
    let [source, target] = [person(&memory, "A", &[]).await, person(&memory, "B", &[]).await];
    let mut writer = memory.db.connect().await;
    let write = format!(
        "BEGIN; INSERT INTO facts (subject, predicate, content, entity_id) VALUES ('s', 'p', 'in time', '{source}')"
    );
    writer.execute(sqlx::raw_sql(AssertSqlSafe(write))).await.unwrap();
    let merging = {
        let (memory, source, target) = (memory.clone(), source.clone(), target.clone());
        tokio::spawn(async move { merge(&memory, &source, &target).await })
    };
    waiting(&memory, 1).await;
    writer.execute(sqlx::raw_sql("COMMIT")).await.unwrap();
    assert_eq!(merging.await.unwrap().unwrap()["facts_repointed"], 1);
    assert_eq!(one(&memory, "SELECT entity_id FROM facts").await["entity_id"], json!(target));
}

const ENTITIES: usize = 9;
const WORKERS: usize = 4;

/// One action of a worker. Entities are given by their index.
#[derive(Debug, Clone)]
enum Step {
    Merge(usize, usize),
    Store { entity: usize, predicate: u8 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let merge = (0..ENTITIES, 0..ENTITIES).prop_map(|(source, target)| Step::Merge(source, target));
    let store = (0..ENTITIES, 0..3_u8).prop_map(|(entity, predicate)| Step::Store { entity, predicate });
    prop::collection::vec(prop_oneof![2 => merge, 3 => store], 1..8)
}

/// Initial facts: entity, predicate, confidence in percent, whether it is active.
fn facts() -> impl Strategy<Value = Vec<(usize, u8, u8, bool)>> {
    prop::collection::vec((0..ENTITIES, 0..3_u8, 0..=100_u8, prop::bool::weighted(0.8)), 0..25)
}

#[test]
fn random_merges_in_random_order_concurrently_lose_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // Each case has its own database.
    let mut runner = TestRunner::new(Config { cases: 8, max_shrink_iters: 0, ..Config::default() });
    let cases = (facts(), prop::collection::vec(steps(), WORKERS));
    runner.run(&cases, |(facts, work)| runtime.block_on(check(facts, work))).unwrap();
}

async fn check(initial: Vec<(usize, u8, u8, bool)>, work: Vec<Vec<Step>>) -> Result<(), TestCaseError> {
    let memory = Arc::new(MemoryFixture::new().await);
    let mut entities = Vec::new();
    for number in 0..ENTITIES {
        entities.push(person(&memory, &format!("Entity number {number}"), &[&format!("alias{number}")]).await);
    }
    let entities = Arc::new(entities);
    let mut known = Vec::new();
    for (entity, predicate, percent, active) in initial {
        let stored =
            fact(&memory, &entities[entity], &format!("p{predicate}"), &format!("initial {}", known.len())).await;
        let change = format!("confidence = {percent} / 100.0{}", if active { "" } else { ", validity = 'retracted'" });
        super::set_fact(&memory, &stored, &change).await;
        known.push(stored);
    }
    let workers: Vec<_> =
        work.into_iter().map(|steps| tokio::spawn(run(memory.clone(), entities.clone(), steps))).collect();
    for worker in workers {
        known.extend(worker.await.expect("no panic")?);
    }
    hold(&memory, &entities, &known).await
}

/// Returns the stored facts. The only allowed errors name a survivor or a merge of an entity with itself.
async fn run(
    memory: Arc<MemoryFixture>,
    entities: Arc<Vec<String>>,
    steps: Vec<Step>,
) -> Result<Vec<String>, TestCaseError> {
    let mut stored = Vec::new();
    let fine = |error: &ToolError| error.message.contains("merged");
    for step in steps {
        match step {
            Step::Merge(source, target) => {
                if let Err(error) = merge(&memory, &entities[source], &entities[target]).await {
                    prop_assert!(fine(&error), "{error:?}");
                }
            }
            Step::Store { entity, predicate } => {
                match try_fact(&memory, &entities[entity], &format!("p{predicate}"), &uuid::Uuid::new_v4().to_string())
                    .await
                {
                    Ok(fact) => stored.push(fact),
                    Err(error) => prop_assert!(fine(&error), "{error:?}"),
                }
            }
        }
    }
    Ok(stored)
}

async fn hold(memory: &MemoryFixture, entities: &[String], known: &[String]) -> Result<(), TestCaseError> {
    let found = rows(memory, "SELECT id FROM facts ORDER BY id").await;
    let mut found: Vec<String> = found.iter().map(|row| id(&row["id"])).collect();
    let mut known = known.to_vec();
    found.sort();
    known.sort();
    prop_assert_eq!(found, known, "every fact exactly once");
    let lost =
        rows(memory, "SELECT f.id FROM facts f JOIN entities e ON e.id = f.entity_id WHERE e.metadata ? 'merged_into'")
            .await;
    prop_assert!(lost.is_empty(), "on a tombstone: {lost:?}");
    let doubled = rows(
        memory,
        "SELECT entity_id FROM facts WHERE validity = 'active' GROUP BY entity_id, scope, predicate HAVING count(*) > 1",
    )
    .await;
    prop_assert!(doubled.is_empty(), "two active: {doubled:?}");
    for (number, entity) in entities.iter().enumerate() {
        let seen = get(memory, entity).await;
        let survivor = if seen["merged_into"].is_null() { seen["id"].clone() } else { seen["merged_into"].clone() };
        prop_assert!(get(memory, &id(&survivor)).await["merged_into"].is_null(), "a survivor is not a tombstone");
        for name in [format!("Entity number {number}"), format!("alias{number}")] {
            let candidates = resolve(memory, json!({ "name": name, "enable_fuzzy": true })).await;
            prop_assert_eq!(&candidates[0]["entity_id"], &survivor, "{}", name);
            for candidate in candidates {
                let candidate: Value = get(memory, &id(&candidate["entity_id"])).await;
                prop_assert!(candidate["merged_into"].is_null(), "{} resolves to a tombstone", name);
            }
        }
    }
    Ok(())
}
