use butler_domain::{MemoryType, Scope};
use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::world::{episode, fact, fact_with, id, ids, number, results, rule};

#[tokio::test]
async fn semantic_search_returns_cosine_similarity() {
    let world = MemoryFixture::new().await;
    let near = fact(&world, "user", "diet", "allergic to peanuts").await;
    fact(&world, "car", "colour", "red like a tomato").await;
    let retracted = fact(&world, "user", "snack", "peanuts, allergic diet").await;
    world.call("memory_forget", json!({"memory_type": "fact", "memory_id": retracted})).await.unwrap();

    let hits = world
        .memory
        .semantic_search(&world.as_test(), MemoryType::Fact, "user diet allergic to peanuts", None, 10)
        .await
        .unwrap();
    assert_eq!(hits.len(), 2, "only active facts");
    assert_eq!(hits[0].id, near);
    assert!((hits[0].similarity.unwrap() - 1.0).abs() < 1e-6, "1 - (embedding <=> query)");
    let (a, b) =
        (world.embedder.vector("user diet allergic to peanuts"), world.embedder.vector("car colour red like a tomato"));
    let cosine: f32 = a.iter().zip(b.iter()).map(|(a, b)| a * b).sum();
    assert!((hits[1].similarity.unwrap() - f64::from(cosine)).abs() < 1e-6);
    assert_eq!(hits[1].score, hits[1].similarity.unwrap());
}

#[tokio::test]
async fn semantic_search_excludes_forgotten_rules() {
    let world = MemoryFixture::new().await;
    let kept = rule(&world, "Always confirm before sending messages", json!({})).await;
    let forgotten = rule(&world, "Always confirm before sending letters", json!({})).await;
    world.call("memory_forget", json!({"memory_type": "rule", "memory_id": forgotten})).await.unwrap();
    let hits =
        world.memory.semantic_search(&world.as_test(), MemoryType::Rule, "confirm sending", None, 10).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [kept]);
}

#[tokio::test]
async fn keyword_search_uses_plainto_tsquery() {
    let world = MemoryFixture::new().await;
    let both = fact(&world, "user", "sport", "runs marathons in spring").await;
    let one = fact(&world, "user", "season", "likes spring").await;
    fact(&world, "user", "colour", "blue").await;
    let call = world.as_test();
    let search = |query: &'static str| world.memory.keyword_search(&call, MemoryType::Fact, query, None, 10);

    let hits = search("Running a marathon in spring").await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [both, one], "all terms first, then any");
    let expected: f32 = sqlx::query_scalar(
        "SELECT ts_rank(search_vector, plainto_tsquery('english', 'Running a marathon in spring')) FROM facts WHERE id = $1",
    )
    .bind(both)
    .fetch_one(&mut world.db.connect().await)
    .await
    .unwrap();
    assert_eq!(hits[0].rank, Some(f64::from(expected)));
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert!(search("").await.unwrap().is_empty(), "an empty query finds nothing");
    assert!(search("  \n").await.unwrap().is_empty());
    assert!(search("the of and").await.unwrap().is_empty(), "stop words alone find nothing");
}

#[tokio::test]
async fn strict_keyword_match_requires_every_term() {
    let mut config = butler_memory::MemoryConfig::default();
    config.retrieval.keyword_match = butler_memory::config::KeywordMatch::Strict;
    let world = MemoryFixture::with_config(config).await;
    let both = fact(&world, "user", "sport", "runs marathons in spring").await;
    fact(&world, "user", "season", "likes spring").await;
    let found = results(&world, "memory_search", json!({"query": "marathon spring", "mode": "keyword"})).await;
    assert_eq!(ids(&found), [both]);
}

#[tokio::test]
async fn hybrid_search_uses_reciprocal_rank_fusion() {
    let world = MemoryFixture::new().await;
    for (n, content) in
        ["peanuts", "peanuts and walnuts", "walnuts in autumn", "rain", "walnut trees"].iter().enumerate()
    {
        fact(&world, &format!("s{n}"), "note", content).await;
    }
    let (call, limit) = (world.as_test(), 3);
    let of = MemoryType::Fact;
    let query = "walnuts and peanuts";
    let semantic = world.memory.semantic_search(&call, of, query, None, limit).await.unwrap();
    let hybrid = world.memory.hybrid_search(&call, of, query, None, limit).await.unwrap();
    assert_eq!(hybrid.len(), limit);
    for hit in &hybrid {
        let s = semantic.iter().position(|found| found.id == hit.id).map_or(limit + 1, |place| place + 1);
        assert_eq!(hit.semantic_rank, Some(s), "limit + 1 if a search did not find it");
        let k = hit.keyword_rank.unwrap();
        assert!((1..=limit + 1).contains(&k));
        assert_eq!(hit.rrf_score, Some(1.0 / (60.0 + s as f64) + 1.0 / (60.0 + k as f64)));
    }
    assert!(hybrid.windows(2).all(|p| (p[0].rrf_score, p[1].semantic_rank) >= (p[1].rrf_score, p[0].semantic_rank)));
}

#[tokio::test]
async fn among_equal_scores_the_better_semantic_rank_comes_first() {
    let world = MemoryFixture::new().await;
    let by_meaning = fact(&world, "tree", "kind", "walnut").await;
    world.clock.advance(std::time::Duration::from_secs(1));
    let by_words = fact(&world, "nut", "kind", "walnut").await;
    let only = format!(
        "UPDATE facts SET search_vector = ''::tsvector WHERE id = '{by_meaning}';
         UPDATE facts SET embedding = NULL, embedding_version_id = NULL WHERE id = '{by_words}'"
    );
    world.db.execute(&only).await;
    let fused = world.memory.hybrid_search(&world.as_test(), MemoryType::Fact, "walnut", None, 10).await.unwrap();
    assert_eq!(fused[0].rrf_score, fused[1].rrf_score, "{fused:?}");
    assert_eq!(fused.iter().map(|hit| hit.id).collect::<Vec<_>>(), [by_meaning, by_words]);
    assert_eq!(ids(&results(&world, "memory_search", json!({"query": "walnut"})).await), [by_meaning, by_words]);
}

#[tokio::test]
async fn every_part_of_a_score_is_present_and_null_if_it_does_not_apply() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    rule(&world, "Suggest a vegetarian diet", json!({})).await;
    episode(&world, "general", "User asked about a vegetarian diet", json!({})).await;
    let parts = [
        "confidence",
        "similarity",
        "rank",
        "semantic_rank",
        "keyword_rank",
        "rrf_score",
        "relevance",
        "importance",
        "recency",
        "effective_confidence",
    ];
    let explained = ["vector_path", "probes", "keyword_path", "keyword_score", "parts", "weighed", "min_relevance"];
    for mode in ["semantic", "keyword", "hybrid", "deep"] {
        let found =
            results(&world, "memory_search", json!({"query": "vegetarian diet", "mode": mode, "explain": true})).await;
        assert_eq!(found.len(), 3, "{mode}");
        for hit in &found {
            for part in parts {
                assert!(hit.get(part).is_some(), "{mode}: {part} of {hit}");
            }
            for part in explained {
                assert!(hit["explain"].get(part).is_some(), "{mode}: explain.{part} of {hit}");
            }
            assert!(hit["relevance"].is_null() && hit["recency"].is_null(), "only a recall sets them");
        }
    }
}

#[tokio::test]
async fn general_search_across_multiple_memory_types() {
    let world = MemoryFixture::new().await;
    let f = fact(&world, "user", "diet", "vegetarian").await;
    let r = rule(&world, "Suggest a vegetarian diet", json!({})).await;
    let e = episode(&world, "general", "User asked about a vegetarian diet", json!({})).await;
    let all = results(&world, "memory_search", json!({"query": "vegetarian diet"})).await;
    let mut found = ids(&all);
    found.sort_unstable();
    let mut expected = vec![f, r, e];
    expected.sort_unstable();
    assert_eq!(found, expected);
    for hit in &all {
        assert!(["episode", "fact", "rule"].contains(&hit["memory_type"].as_str().unwrap()));
        assert!(hit["content"].is_string() && hit["score"].is_f64() && hit.get("confidence").is_some());
        for part in ["similarity", "rank", "semantic_rank", "keyword_rank", "rrf_score"] {
            assert!(hit[part].is_number(), "{part} of {hit}");
        }
        assert!(hit.get("embedding").is_none() && hit.get("search_vector").is_none());
    }
    let facts = results(&world, "memory_search", json!({"query": "vegetarian diet", "types": ["fact"]})).await;
    assert_eq!(ids(&facts), [f]);
    let written = results(&world, "memory_search", json!({"query": "vegetarian diet", "types": "[\"rule\"]"})).await;
    assert_eq!(ids(&written), [r], "a list as a JSON string");
}

#[tokio::test]
async fn results_with_confidence_below_min_confidence_are_filtered_out() {
    let world = MemoryFixture::new().await;
    let fading = fact_with(&world, "user", "mood", "tired", json!({"permanence": "ephemeral"})).await;
    let lasting = fact_with(&world, "user", "name", "tired Tom", json!({"permanence": "permanent"})).await;
    let told = episode(&world, "general", "User was tired", json!({})).await;
    world.clock.advance_days(6.0);
    let query = |min: f64| json!({"query": "tired", "min_confidence": min});
    assert_eq!(results(&world, "memory_search", query(0.5)).await.len(), 3, "exp(-0.6) is 0.55");
    world.clock.advance_days(0.99);
    let found = results(&world, "memory_search", query(0.5)).await;
    assert!(!ids(&found).contains(&fading), "effective confidence counts, not the stored one");
    assert!(ids(&found).contains(&lasting) && ids(&found).contains(&told), "episodes have no confidence and pass");
    let all = results(&world, "memory_search", query(0.0)).await;
    let faded = all.iter().find(|hit| id(hit) == fading).unwrap();
    assert!((number(faded, "confidence") - (-0.699_f64).exp()).abs() < 1e-9);
}

#[tokio::test]
async fn scope_filter_on_facts_and_rules() {
    let world = MemoryFixture::new().await;
    let global = fact(&world, "Anna", "birthday", "in May").await;
    let own = fact_with(&world, "Anna", "birthday", "gift in May", json!({"scope": "relationship"})).await;
    let other = fact_with(&world, "Anna", "birthday", "off in May", json!({"scope": "work"})).await;
    let own_rule = rule(&world, "Remember birthdays in May", json!({"scope": "relationship"})).await;
    let other_rule = rule(&world, "Plan May birthdays", json!({"scope": "work"})).await;
    let query = |scope| json!({"query": "birthday May", "scope": scope});
    let found = ids(&results(&world, "memory_search", query(Some("relationship"))).await);
    assert!([global, own, own_rule].iter().all(|id| found.contains(id)), "the scope and global");
    assert!(!found.contains(&other) && !found.contains(&other_rule));
}

#[tokio::test]
async fn scope_filter_on_episodes() {
    let world = MemoryFixture::new().await;
    let own = episode(&world, "health", "Asked about sleep", json!({})).await;
    episode(&world, "general", "Asked about sleep and work", json!({})).await;
    let found = results(&world, "memory_search", json!({"query": "sleep", "scope": "health"})).await;
    assert_eq!(ids(&found), [own]);
    assert_eq!(found[0]["butler"], "health");
}

#[tokio::test]
async fn no_scope_filter_returns_all() {
    let world = MemoryFixture::new().await;
    fact_with(&world, "user", "sleep", "seven hours of sleep", json!({"scope": "health"})).await;
    fact_with(&world, "user", "sleep", "no sleep on trains", json!({"scope": "travel"})).await;
    episode(&world, "health", "Asked about sleep", json!({})).await;
    assert_eq!(results(&world, "memory_search", json!({"query": "sleep", "scope": null})).await.len(), 3);
    let scope = Some(Scope::new("health").unwrap());
    let scoped = world.memory.hybrid_search(&world.as_test(), MemoryType::Fact, "sleep", scope, 10).await.unwrap();
    assert_eq!(scoped.len(), 1);
}

#[tokio::test]
async fn forgotten_and_expired_episodes_are_never_returned() {
    let world = MemoryFixture::new().await;
    let forgotten = episode(&world, "general", "Talked about tides", json!({})).await;
    let told = episode(&world, "general", "Talked about tides and moons", json!({})).await;
    world.call("memory_forget", json!({"memory_type": "episode", "memory_id": forgotten})).await.unwrap();
    let query = json!({"query": "tides", "types": ["episode"]});
    assert_eq!(ids(&results(&world, "memory_search", query.clone()).await), [told]);
    world.clock.advance_days(7.0);
    assert!(results(&world, "memory_search", query).await.is_empty(), "expired, though cleanup has not run");
}

#[tokio::test]
async fn a_natural_question_finds_its_fact_and_running_finds_run() {
    let world = MemoryFixture::new().await;
    let colour = fact(&world, "user", "favorite_color", "blue").await;
    let sport = fact(&world, "user", "sport", "She likes to run at dawn").await;
    for n in 0..20 {
        fact(&world, &format!("noise{n}"), "note", &format!("invoice {n} was paid")).await;
    }
    let found = results(&world, "memory_search", json!({"query": "What is the favorite color of the user?"})).await;
    assert_eq!(id(&found[0]), colour);
    let found = results(&world, "memory_search", json!({"query": "running", "mode": "keyword"})).await;
    assert_eq!(ids(&found), [sport]);
}

#[tokio::test]
async fn a_fact_comes_with_its_entity() {
    let world = MemoryFixture::new().await;
    let entity = uuid::Uuid::new_v4();
    world
        .db
        .execute(&format!(
            "INSERT INTO entities (id, canonical_name, entity_type) VALUES ('{entity}', 'Anna Berg', 'person')"
        ))
        .await;
    fact_with(&world, "Anna", "job", "paints ships", json!({"entity_id": entity})).await;
    let found = results(&world, "memory_search", json!({"query": "who paints ships"})).await;
    assert_eq!(found[0]["entity_id"], json!(entity));
    assert_eq!(found[0]["entity_name"], "Anna Berg");
}

#[tokio::test]
async fn searching_does_not_count_as_a_reference_and_ten_results_are_small() {
    let world = MemoryFixture::new().await;
    for n in 0..12 {
        fact(
            &world,
            &format!("subject {n}"),
            "note",
            &format!("An ordinary memory, number {n}, as long as most of them are"),
        )
        .await;
    }
    let answer = world.call("memory_search", json!({"query": "ordinary memory"})).await.unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 10, "the default limit is ten");
    assert!(answer.to_string().len() <= 12 * 1024, "{} bytes", answer.to_string().len());
    let bumped: i64 = sqlx::query_scalar("SELECT sum(reference_count) FROM facts")
        .fetch_one(&mut world.db.connect().await)
        .await
        .unwrap();
    assert_eq!(bumped, 0);
}

#[tokio::test]
async fn explain_returns_ranks_paths_and_timings() {
    let world = MemoryFixture::new().await;
    fact(&world, "user", "diet", "vegetarian").await;
    let answer = world.call("memory_search", json!({"query": "diet", "explain": true})).await.unwrap();
    let explain = &answer["results"][0]["explain"];
    assert_eq!(explain["vector_path"], "exact");
    assert!(explain["in_semantic"] == true && explain["in_keyword"] == true && explain["all_terms"] == true);
    assert!(answer["trace"]["database_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["trace"]["stores"]["fact"]["rows"], 1.0);
    let recalled = world.call("memory_recall", json!({"topic": "diet", "explain": true})).await.unwrap();
    let weighed = &recalled["results"][0]["explain"]["weighed"];
    let sum: f64 = ["relevance", "importance", "recency", "confidence"].iter().map(|part| number(weighed, part)).sum();
    assert!((sum - number(&recalled["results"][0], "score")).abs() < 1e-12);
    assert_eq!(recalled["trace"]["weights"]["relevance"], 0.4);
}

#[tokio::test]
async fn vectors_of_two_models_are_never_compared() {
    let world = MemoryFixture::new().await;
    let old = fact(&world, "user", "diet", "vegetarian").await;
    let db = world.db;
    let parts = butler_memory::MemoryParts {
        butler: butler_domain::Butler::new("general").unwrap(),
        db: db.database().clone(),
        embedder: std::sync::Arc::new(butler_testkit::FakeEmbedder::of_version("2")),
        clock: world.clock.clone(),
        config: butler_memory::MemoryConfig::default(),
    };
    let newer = butler_memory::Memory::new(parts);
    let call = butler_memory::Call::internal(&newer, butler_domain::TenantId::default(), "test");
    let semantic = newer.semantic_search(&call, MemoryType::Fact, "user diet vegetarian", None, 10).await.unwrap();
    assert!(semantic.is_empty());
    let hybrid = newer.hybrid_search(&call, MemoryType::Fact, "vegetarian", None, 10).await.unwrap();
    assert_eq!(hybrid.iter().map(|hit| hit.id).collect::<Vec<_>>(), [old], "its words are still found");
    assert_eq!(hybrid[0].similarity, None);
}

#[tokio::test]
async fn with_min_relevance_a_search_may_return_nothing() {
    let world = MemoryFixture::new().await;
    for n in 0..40 {
        fact(&world, &format!("invoice {n}"), "state", &format!("invoice {n} was paid in month {}", n % 12)).await;
    }
    let anna = fact(&world, "Anna", "allergy", "severe peanut allergy").await;
    let query = |query, floor: Option<f64>| json!({"query": query, "min_relevance": floor});
    assert!(
        !results(&world, "memory_search", query("quantum chromodynamics", None)).await.is_empty(),
        "off by default"
    );
    assert!(results(&world, "memory_search", query("quantum chromodynamics", Some(0.05))).await.is_empty());
    let found = results(&world, "memory_search", query("which peanut allergy", Some(0.05))).await;
    assert_eq!(id(&found[0]), anna);
    let named = results(&world, "memory_recall", json!({"topic": "Tell me about Anna", "min_relevance": 0.05})).await;
    assert_eq!(ids(&named), [anna], "the name alone is enough");
}
