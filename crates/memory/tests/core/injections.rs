//! Which memories were served to which session and call.

use butler_domain::TenantId;
use butler_memory::browse::{Injection, InjectionFilter, Page, ServedBy};
use butler_memory::{Call, MemoryConfig, RecallInput};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{count, episode, fact, rows, rule};

const SESSION: &str = "session-7";

async fn served(memory: &MemoryFixture, tenant: &str, filter: InjectionFilter) -> Vec<Injection> {
    let tenant = TenantId::new(tenant).unwrap();
    let listed = memory.memory.browse(&tenant, memory.memory.now()).injections(&filter, Page::first(50)).await.unwrap();
    assert_eq!(listed.total, i64::try_from(listed.rows.len()).unwrap());
    listed.rows
}

async fn of_session(memory: &MemoryFixture) -> Vec<Injection> {
    served(memory, "default", InjectionFilter { session: Some(SESSION.to_owned()), memory: None }).await
}

fn in_session(mut arguments: Value) -> Value {
    arguments["request_context"] = json!({"session_id": SESSION, "request_id": "r-1"});
    arguments
}

fn id(value: &Value) -> Uuid {
    value.as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_session_shows_what_it_was_given_call_by_call() {
    let memory = MemoryFixture::new().await;
    let tea = fact(&memory, "Anna", "drinks", "green tea").await;
    let ask = rule(&memory, "Ask before making tea").await;
    let said = episode(&memory, "Anna asked for tea").await;
    let recalled = memory.call("memory_recall", in_session(json!({"topic": "tea"}))).await.unwrap();
    memory.clock.advance_days(0.1);
    memory.call("memory_search", in_session(json!({"query": "tea", "limit": 1}))).await.unwrap();
    memory.clock.advance_days(0.1);
    let context = in_session(json!({"trigger_prompt": "tea", "butler": "general"}));
    memory.call("memory_context", context).await.unwrap();
    memory.call("memory_recall", json!({"topic": "tea"})).await.unwrap();

    let calls = of_session(&memory).await;
    let kinds: Vec<ServedBy> = calls.iter().map(|call| call.kind).collect();
    assert_eq!(kinds, [ServedBy::Context, ServedBy::Search, ServedBy::Recall], "newest first, of this session only");
    assert!(calls.iter().all(|call| call.actor.as_deref() == Some("general")));
    assert!(calls.iter().all(|call| call.request_id.as_deref() == Some("r-1")));
    assert_eq!(calls[1].query_hash, calls[2].query_hash, "the same query");

    let told: Vec<(Uuid, f64)> = calls[2].memories.iter().map(|m| (m.id.unwrap(), m.score.unwrap())).collect();
    let results = recalled["results"].as_array().unwrap();
    let answered: Vec<Uuid> = results.iter().map(|hit| id(&hit["id"])).collect();
    assert_eq!(told.iter().map(|(id, _)| *id).collect::<Vec<_>>(), answered, "in the order of the answer");
    assert!(told.iter().zip(results).all(|((_, score), hit)| (score - hit["score"].as_f64().unwrap()).abs() < 1e-6));
    assert_eq!(calls[2].memories.iter().map(|m| m.rank).collect::<Vec<_>>(), [1, 2]);
    let block: Vec<Uuid> = calls[0].memories.iter().map(|m| m.id.unwrap()).collect();
    assert_eq!(block, [id(&tea), id(&ask), id(&said)], "facts, rules, episodes");
    assert_eq!(calls[0].memories[0].label.as_deref(), Some("Anna drinks: green tea"));

    let stored = rows(&memory, "SELECT to_jsonb(i)::text AS row FROM injections i").await;
    assert_eq!(stored.len(), 4);
    assert!(stored.iter().all(|row| !row.to_string().contains("tea")), "neither the query nor the content is stored");
}

#[tokio::test]
async fn who_read_a_memory_is_found_by_its_id() {
    let memory = MemoryFixture::new().await;
    let tea = fact(&memory, "Anna", "drinks", "green tea").await;
    fact(&memory, "Anna", "reads", "novels").await;
    memory.call("memory_recall", in_session(json!({"topic": "tea novels"}))).await.unwrap();
    let filter = InjectionFilter { session: None, memory: Some(id(&tea)) };
    let readers = served(&memory, "default", filter.clone()).await;
    assert_eq!(readers.len(), 1);
    assert_eq!(readers[0].session_id.as_deref(), Some(SESSION));
    assert_eq!(readers[0].memories.len(), 1, "the other fact is not part of the answer");
    assert_eq!(readers[0].memories[0].id, Some(id(&tea)));
    assert!(served(&memory, "other", filter).await.is_empty(), "another tenant learns nothing");
}

#[tokio::test]
async fn what_serves_nothing_is_recorded_only_for_a_session() {
    let memory = MemoryFixture::new().await;
    memory.call("memory_recall", json!({"topic": "tea"})).await.unwrap();
    memory.call("memory_recall", in_session(json!({"topic": "tea"}))).await.unwrap();
    let calls = of_session(&memory).await;
    assert_eq!(calls.len(), 1);
    assert!(calls[0].memories.is_empty());
    assert_eq!(count(&memory, "injections").await, 1);

    fact(&memory, "Anna", "drinks", "green tea").await;
    let call = Call::internal(&memory.memory, TenantId::default(), "dashboard");
    let input = RecallInput {
        topic: "tea".to_owned(),
        scope: None,
        mode: Default::default(),
        limit: 5,
        min_confidence: 0.0,
        min_relevance: None,
        hops: 1,
        explain: false,
        time_filter: Default::default(),
    };
    memory.memory.recall_uncounted(&call, &input).await.unwrap();
    memory.memory.db().settled().await;
    assert_eq!(count(&memory, "injections").await, 1, "a person who inspects a recall is no agent");
}

#[tokio::test]
async fn a_memory_that_is_gone_is_shown_as_gone() {
    let memory = MemoryFixture::new().await;
    episode(&memory, "Anna asked for tea").await;
    let tea = fact(&memory, "Anna", "drinks", "green tea").await;
    memory.call("memory_search", in_session(json!({"query": "tea"}))).await.unwrap();
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": tea})).await.unwrap();
    sqlx::raw_sql("DELETE FROM episodes").execute(&mut memory.db.connect().await).await.unwrap();
    let calls = of_session(&memory).await;
    let mut states: Vec<(Option<&str>, bool)> =
        calls[0].memories.iter().map(|m| (m.state.as_deref(), m.label.is_some())).collect();
    states.sort();
    assert_eq!(states, [(None, false), (Some("retracted"), true)]);
}

#[tokio::test]
async fn an_erasure_leaves_neither_ids_nor_a_hash_of_the_query() {
    let memory = MemoryFixture::new().await;
    let anna = json!({"canonical_name": "Anna", "entity_type": "person"});
    let anna = memory.call("entity_create", anna).await.unwrap()["entity_id"].clone();
    let tea = fact(&memory, "Anna", "drinks", "green tea").await;
    fact(&memory, "Bob", "drinks", "black tea").await;
    memory.call("memory_recall", in_session(json!({"topic": "tea"}))).await.unwrap();
    memory.call("memory_recall", in_session(json!({"topic": "black tea of Bob", "limit": 1}))).await.unwrap();
    let erase = json!({"entity_id": anna, "erase": true, "dry_run": false});
    memory.call("entity_forget", erase).await.unwrap();
    let calls = of_session(&memory).await;
    let whole = |call: &&Injection| call.memories.iter().all(|memory| memory.id.is_some());
    assert_eq!(calls.iter().filter(whole).count(), 1, "what served only others is not changed");
    let emptied = calls.iter().find(|call| !whole(call)).unwrap();
    assert_eq!(emptied.query_hash, None);
    assert_eq!(emptied.memories.len(), 2, "the ranks of the others stay");
    assert_eq!(emptied.memories.iter().filter(|m| m.id.is_none() && m.score.is_none() && m.label.is_none()).count(), 1);
    let left = format!("injections WHERE memory_ids && ARRAY[{tea}]::uuid[]").replace('"', "'");
    assert_eq!(count(&memory, &left).await, 0);

    memory.memory.erase_tenant(&memory.as_test(), false).await.unwrap();
    assert_eq!(count(&memory, "injections").await, 0);
}

#[tokio::test]
async fn rows_are_kept_for_the_configured_time() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "Anna", "drinks", "green tea").await;
    memory.call("memory_recall", json!({"topic": "tea"})).await.unwrap();
    memory.memory.db().settled().await;
    memory.clock.advance_days(89.0);
    assert_eq!(memory.memory.sweep(None).await.unwrap().injections_removed, 0);
    memory.clock.advance_days(2.0);
    assert_eq!(memory.memory.dry_run_sweep(None).await.unwrap().injections_removed, 1);
    assert_eq!(memory.memory.sweep(None).await.unwrap().injections_removed, 1);
    assert_eq!(count(&memory, "injections").await, 0);

    let config = MemoryConfig { injections_retention_days: 0, ..MemoryConfig::default() };
    let memory = MemoryFixture::with_config(config).await;
    fact(&memory, "Anna", "drinks", "green tea").await;
    memory.call("memory_recall", in_session(json!({"topic": "tea"}))).await.unwrap();
    memory.memory.db().settled().await;
    assert_eq!(count(&memory, "injections").await, 0, "0 days: nothing is recorded");
    assert_eq!(count(&memory, "facts WHERE reference_count = 1").await, 1);
}
