use std::sync::Arc;
use std::time::Duration;

use butler_domain::deep::DeepWeights;
use butler_domain::{Butler, MemoryType, TenantId};
use butler_embed::Embedder;
use butler_memory::{Memory, MemoryConfig, MemoryParts};
use butler_store::search::{Pools, Retrieve, Retrieved, RetrievedMemory, TimeFilterRow, retrieve_on};
use butler_store::{Database, DatabaseOptions};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::world::{episode, fact, fact_with, rule};

/// The same memory with other sessions.
fn through(world: MemoryFixture, db: Database) -> MemoryFixture {
    let memory = Memory::new(MemoryParts {
        butler: Butler::new("general").unwrap(),
        db,
        embedder: world.embedder.clone(),
        clock: world.clock.clone(),
        config: MemoryConfig::default(),
    });
    MemoryFixture { memory: Arc::new(memory), ..world }
}

/// The number of statements of a tool call, without the one that sets the tenant on a new connection.
async fn statements(world: &MemoryFixture, tool: &str, arguments: Value) -> u64 {
    // Called twice, so that the tenant is already set on the session of the second call.
    for _ in 0..2 {
        world.call(tool, arguments.clone()).await.unwrap();
    }
    let sent = || async { world.memory.db().relaxed(&TenantId::default()).await.unwrap().statements() };
    let before = sent().await;
    world.call(tool, arguments).await.unwrap();
    sent().await - before
}

#[tokio::test]
async fn search_recall_and_context_are_one_statement_and_one_after_the_answer() {
    let world = MemoryFixture::new().await;
    // All statements of a call are sent through the only session.
    let one = Database::connect(DatabaseOptions { pool_size: 1, ..world.db.options() }).await.unwrap();
    let world = through(world, one);
    fact(&world, "user", "diet", "vegetarian").await;
    rule(&world, "Mind the diet", json!({})).await;
    episode(&world, "health", "Talked about the diet", json!({})).await;
    for mode in ["semantic", "keyword", "hybrid", "deep"] {
        assert_eq!(statements(&world, "memory_search", json!({"query": "diet", "mode": mode})).await, 2, "{mode}");
    }
    let all = json!({"query": "diet", "min_relevance": 0.01, "explain": true});
    assert_eq!(statements(&world, "memory_search", all).await, 2);
    assert_eq!(statements(&world, "memory_recall", json!({"topic": "diet"})).await, 2);
    assert_eq!(statements(&world, "memory_context", json!({"trigger_prompt": "diet", "butler": "health"})).await, 2);
    assert_eq!(statements(&world, "memory_search", json!({"query": ""})).await, 0);
}

/// What a search found, without timings, and sorted where the order means nothing.
fn found(mut retrieved: Retrieved) -> String {
    retrieved.found.sort_by_key(|memory: &RetrievedMemory| memory.id);
    retrieved.related.sort_by_key(|memory| memory.id);
    for (_, store) in &mut retrieved.stores {
        store.ms = 0.0;
    }
    format!("{retrieved:#?}")
}

#[tokio::test]
async fn facts_searched_beside_the_rest_give_the_same_answer() {
    let world = MemoryFixture::new().await;
    for (scope, content) in [("global", "Wants to weigh 72 kg"), ("health", "Wants to weigh 75 kg")] {
        fact_with(&world, "John", "weight_goal", content, json!({"scope": scope})).await;
    }
    world.call("entity_create", json!({"canonical_name": "John", "entity_type": "person"})).await.unwrap();
    fact_with(&world, "John", "home", "lives in Turin", json!({"valid_from": "2029-03", "object": "Turin"})).await;
    rule(&world, "Mind the weight of John's guests", json!({})).await;
    for day in 0..30 {
        let content = format!("Talked about {} on day {day}", if day < 5 { "John's weight" } else { "the garden" });
        episode(
            &world,
            "health",
            &content,
            json!({"session_id": format!("00000000-0000-4000-8000-0000000000{day:02}")}),
        )
        .await;
    }
    world.memory.db().settled().await;
    let embedding = world.embedder.embed(Some("John weight")).await.unwrap();
    let model = world.embedder.model();
    let at = world.memory.now();
    let ask = |query: &'static str, types: &[MemoryType]| Retrieve {
        types: types.to_vec(),
        scope: Some("health"),
        at,
        min_confidence: 0.2,
        model: model.model,
        model_version: model.version,
        embedding: Some(&embedding),
        query,
        names: ["john".to_owned()].into(),
        words: Some(query),
        unknown_words: Vec::new(),
        plain_words: Vec::new(),
        any_term: true,
        mode: "hybrid",
        limit: 10,
        deep: DeepWeights::default().as_array(),
        background: true,
        hops: 1,
        related: 0,
        recent: 0,
        time_filter: None,
        holding: true,
        conflicts: true,
        window: None,
    };
    let of_month = |month: u32| TimeFilterRow {
        first: Some(format!("2029-{month:02}-01T00:00:00Z").parse().unwrap()),
        last: Some(format!("2029-{month:02}-28T00:00:00Z").parse().unwrap()),
        as_of: None,
        since: None,
        until: None,
    };
    let two = [MemoryType::Fact, MemoryType::Rule];
    let requests = [
        ("recall", ask("john weight", &two)),
        ("search", Retrieve { mode: "deep", ..ask("john weight", MemoryType::ALL) }),
        ("context", Retrieve { related: 40, recent: 3, ..ask("john weight", &two) }),
        ("empty context", Retrieve { embedding: None, words: None, recent: 3, ..ask("", &[MemoryType::Fact]) }),
        ("misspelled", Retrieve { unknown_words: vec!["weigth".to_owned()], ..ask("john weigth", &two) }),
        ("at a time", Retrieve { time_filter: Some(of_month(6)), ..ask("john home", &two) }),
        ("words of time", Retrieve { window: Some(of_month(6)), ..ask("john home", MemoryType::ALL) }),
    ];
    let tenant = TenantId::default();
    let mut session = world.db.database().relaxed(&tenant).await.unwrap();
    let mut second = world.db.database().relaxed(&tenant).await.unwrap();
    for (name, request) in requests {
        let alone = retrieve_on(&mut session, None, &tenant, &request, &Pools::default()).await.unwrap();
        assert!(!alone.found.is_empty(), "{name}");
        assert_eq!(!alone.related.is_empty(), request.related > 0, "{name}");
        assert_eq!(!alone.recent.is_empty(), request.recent > 0, "{name}");
        assert_eq!(alone.stores.iter().any(|(_, store)| store.corrections.is_some()), name == "misspelled", "{name}");
        let before = second.statements();
        let beside = retrieve_on(&mut session, Some(&mut second), &tenant, &request, &Pools::default()).await.unwrap();
        assert_eq!(second.statements(), before + 1, "{name}");
        assert_eq!(found(beside), found(alone), "{name}");
    }
}

#[tokio::test]
async fn a_butler_in_regular_use_searches_with_two_sessions() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    rule(&world, "Mind the diet", json!({})).await;
    let database = Database::connect(world.db.options()).await.unwrap();
    let world = through(world, database.clone());
    let recall = async || world.call("memory_recall", json!({"topic": "diet"})).await.unwrap();
    recall().await;
    database.settled().await;
    let open = database.pool_stats().open;
    let used_again = async {
        loop {
            recall().await;
            database.settled().await;
            if database.pool_stats().open > open {
                break;
            }
        }
        let before = statements_of_two(&database).await;
        while statements_of_two(&database).await.iter().zip(&before).any(|(now, before)| now == before) {
            recall().await;
            database.settled().await;
        }
    };
    if std::thread::available_parallelism().unwrap().get() == 1 {
        return;
    }
    tokio::time::timeout(Duration::from_secs(60), used_again).await.expect("a second session, and searches with it");
    assert_eq!(database.pool_stats().open, open + 1, "one is enough");
}

/// The statements of two sessions, in the order of their numbers.
async fn statements_of_two(database: &Database) -> [u64; 2] {
    let tenant = TenantId::default();
    let (one, other) = (database.relaxed(&tenant).await.unwrap(), database.relaxed(&tenant).await.unwrap());
    let mut counts = [one.statements(), other.statements()];
    counts.sort_unstable();
    counts
}
