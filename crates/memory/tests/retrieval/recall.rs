use butler_testkit::MemoryFixture;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{episode, fact, fact_with, id, ids, number, results, rule};

async fn references(world: &MemoryFixture, table: &'static str) -> Vec<(Uuid, i32, bool)> {
    let sql = match table {
        "facts" => "SELECT id, reference_count, last_referenced_at IS NOT NULL FROM facts ORDER BY id",
        "rules" => "SELECT id, reference_count, last_referenced_at IS NOT NULL FROM rules ORDER BY id",
        _ => "SELECT id, reference_count, last_referenced_at IS NOT NULL FROM episodes ORDER BY id",
    };
    world.db.database().settled().await;
    sqlx::query_as(sql).fetch_all(&mut world.db.connect().await).await.unwrap()
}

#[tokio::test]
async fn composite_score_formula() {
    let world = MemoryFixture::new().await;
    fact_with(&world, "user", "diet", "vegetarian food", json!({"importance": 9.0})).await;
    fact_with(&world, "user", "drink", "tea with food", json!({"importance": 2.0})).await;
    rule(&world, "Suggest vegetarian food", json!({})).await;
    world.clock.advance_days(10.0);
    let first = results(&world, "memory_recall", json!({"topic": "vegetarian food"})).await;
    assert_eq!(first.len(), 3);
    world.clock.advance_days(3.5);
    for hit in results(&world, "memory_recall", json!({"topic": "vegetarian food"})).await {
        let score = 0.4 * number(&hit, "relevance")
            + 0.3 * number(&hit, "importance") / 10.0
            + 0.2 * number(&hit, "recency")
            + 0.1 * number(&hit, "effective_confidence");
        assert!((score - number(&hit, "score")).abs() < 1e-12, "{hit}");
        assert!((number(&hit, "recency") - 0.5_f64.sqrt()).abs() < 1e-9, "half a half-life");
        let base =
            if hit["memory_type"] == "rule" { 0.5 * (-0.01_f64 * 13.5).exp() } else { (-0.008_f64 * 13.5).exp() };
        assert!((number(&hit, "effective_confidence") - base).abs() < 1e-9);
        if hit["memory_type"] == "rule" {
            assert_eq!(number(&hit, "importance"), 5.0, "rules have no importance of their own");
        }
    }
}

#[tokio::test]
async fn relevance_is_highest_for_the_first_in_both_searches() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian food").await;
    let found = results(&world, "memory_recall", json!({"topic": "user diet vegetarian food"})).await;
    assert!(number(&found[0], "relevance") > 0.99, "first in both searches");
    assert_eq!(number(&found[0], "rrf_score"), 2.0 / 61.0);
}

#[tokio::test]
async fn recency_score_uses_exponential_decay() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    let ask = || results(&world, "memory_recall", json!({"topic": "diet"}));
    assert_eq!(number(&ask().await[0], "recency"), 0.0, "never referenced");
    assert_eq!(number(&ask().await[0], "recency"), 1.0, "just now");
    world.clock.advance_days(7.0);
    assert!((number(&ask().await[0], "recency") - 0.5).abs() < 1e-9);
}

#[tokio::test]
async fn recall_bumps_reference_counts() {
    let world = MemoryFixture::new().await;
    for n in 0..6 {
        fact(&world, &format!("s{n}"), "note", "tides and moons").await;
    }
    rule(&world, "Mind the tides", json!({})).await;
    episode(&world, "general", "Talked about tides", json!({})).await;
    let found = results(&world, "memory_recall", json!({"topic": "tides", "limit": 4})).await;
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|hit| hit["memory_type"] != "episode"), "facts and rules, not episodes");
    let mut counted = references(&world, "facts").await;
    counted.extend(references(&world, "rules").await);
    for (row, count, referenced) in counted {
        let returned = ids(&found).contains(&row);
        assert_eq!((count, referenced), (i32::from(returned), returned), "exactly the returned rows");
    }
    assert_eq!(references(&world, "episodes").await[0].1, 0);
}

#[tokio::test]
async fn counting_references_is_a_hot_update() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    for _ in 0..3 {
        results(&world, "memory_recall", json!({"topic": "diet"})).await;
    }
    // PostgreSQL sessions report their statistics when they end at the latest.
    world.db.database().close().await;
    let mut conn = world.db.connect().await;
    let (updates, hot): (i64, i64) = loop {
        let row: (i64, i64) =
            sqlx::query_as("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'facts'")
                .fetch_one(&mut conn)
                .await
                .unwrap();
        if row.0 >= 3 {
            break row;
        }
        sqlx::query("SELECT pg_stat_clear_snapshot()").execute(&mut conn).await.unwrap();
    };
    assert_eq!((updates, hot), (3, 3));
}

#[tokio::test]
async fn readers_of_the_same_rows_do_not_deadlock() {
    let world = std::sync::Arc::new(MemoryFixture::new().await);
    for n in 0..8 {
        fact(&world, &format!("s{n}"), "note", "tides and moons").await;
    }
    let readers: Vec<_> = (0..8)
        .map(|n| {
            let world = world.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let topic = if n % 2 == 0 { "tides" } else { "moons" };
                    results(&world, "memory_recall", json!({"topic": topic, "limit": 8})).await;
                }
            })
        })
        .collect();
    for reader in readers {
        reader.await.unwrap();
    }
    let total: i32 = references(&world, "facts").await.iter().map(|row| row.1).sum();
    assert_eq!(total, 8 * 8 * 10, "no count was lost");
}

#[tokio::test]
async fn deterministic_ordering_with_tie_breaking() {
    let world = MemoryFixture::new().await;
    // They differ only in age and id.
    let sql = |n: u32, at: &str| {
        format!(
            "INSERT INTO rules (id, content, search_vector, created_at, last_confirmed_at)
             VALUES ('00000000-0000-0000-0000-00000000000{n}', 'same words', to_tsvector('english', 'same words'), '{at}', '{at}')"
        )
    };
    for (n, at) in [(3, "2030-01-10"), (2, "2030-01-12"), (1, "2030-01-12")] {
        world.db.execute(&sql(n, at)).await;
    }
    let order = |found: Vec<Value>| found.iter().map(|hit| id(hit).as_u128()).collect::<Vec<_>>();
    let arguments = json!({"query": "same words", "mode": "keyword"});
    assert_eq!(order(results(&world, "memory_search", arguments).await), [1, 2, 3], "newer first, then the lower id");
    let first = order(results(&world, "memory_recall", json!({"topic": "same words"})).await);
    assert_eq!(first, order(results(&world, "memory_recall", json!({"topic": "same words"})).await));
}

#[tokio::test]
async fn fresh_facts_and_fresh_rules_are_recallable_immediately() {
    let world = MemoryFixture::new().await;
    let f = fact(&world, "user", "pet", "a grey parrot").await;
    let r = rule(&world, "Ask after the parrot", json!({})).await;
    let found = ids(&results(&world, "memory_recall", json!({"topic": "parrot"})).await);
    assert!(found.contains(&f) && found.contains(&r));
}

#[tokio::test]
async fn importance_and_configured_weights_determine_the_order() {
    let mut config = butler_memory::MemoryConfig::default();
    config.retrieval.score_weights =
        butler_domain::scoring::ScoreWeights { relevance: 0.0, importance: 3.0, recency: 0.0, confidence: 0.0 };
    let world = MemoryFixture::with_config(config).await;
    fact_with(&world, "user", "diet", "vegetarian food", json!({"importance": 1.0})).await;
    let vital = fact_with(&world, "user", "allergy", "food", json!({"importance": 10.0})).await;
    let found = results(&world, "memory_recall", json!({"topic": "user diet vegetarian food"})).await;
    assert_eq!(id(&found[0]), vital);
    assert_eq!(number(&found[0], "score"), 3.0, "weights need not sum to 1");
}

#[tokio::test]
async fn the_configured_default_limit_is_the_default_of_the_read_tools() {
    let mut config = butler_memory::MemoryConfig::default();
    config.retrieval.default_limit = Some(2);
    let world = MemoryFixture::with_config(config).await;
    for n in 0..4 {
        fact(&world, &format!("s{n}"), "note", "tides").await;
    }
    assert_eq!(results(&world, "memory_recall", json!({"topic": "tides"})).await.len(), 2);
    assert_eq!(results(&world, "memory_search", json!({"query": "tides"})).await.len(), 2);
}
