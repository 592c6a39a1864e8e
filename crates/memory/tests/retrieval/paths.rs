//! The search paths that retrieval chooses as a store grows, and the correctness of their results.

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::world::{fact_with, ids, results};

/// Inserts rows directly into the table, enough for the approximate path. Each has its own words, a topic that it
/// shares with a twentieth of the others, and a word that half of them have.
async fn many_facts(world: &MemoryFixture, rows: usize) {
    let mut sql = String::from(
        "INSERT INTO embedding_versions (tenant_id, model, version, dimensions) VALUES ('default', 'fake', '1', 384) ON CONFLICT DO NOTHING;",
    );
    for chunk in (0..rows).collect::<Vec<_>>().chunks(500) {
        sql.push_str("INSERT INTO facts (subject, predicate, content, embedding, search_vector, embedding_version_id, last_confirmed_at, created_at) VALUES ");
        let rows: Vec<String> = chunk
            .iter()
            .map(|n| {
                let text = format!("s{n} note topic{} word{n} {}", n % 20, if n % 2 == 0 { "common" } else { "usual" });
                let vector: Vec<String> = world.embedder.vector(&text).iter().map(f32::to_string).collect();
                format!(
                    "('s{n}', 'note', '{text}', '[{}]', to_tsvector('english', '{text}'),
                     (SELECT id FROM embedding_versions WHERE tenant_id = 'default' AND version = '1'), '2030-01-15T11:00Z', '2030-01-15T11:00Z'::timestamptz + {n} * interval '1 ms')",
                    vector.join(",")
                )
            })
            .collect();
        sql.push_str(&rows.join(","));
        sql.push(';');
    }
    sql.push_str("ANALYZE facts;");
    world.db.execute(&sql).await;
}

async fn explained(world: &MemoryFixture, query: &str, more: Value) -> Value {
    let mut arguments = json!({"query": query, "types": ["fact"], "explain": true, "limit": 20});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.call("memory_search", arguments).await.unwrap()
}

#[tokio::test]
async fn the_trained_approximate_index_is_used_and_finds_what_an_exact_search_finds() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 4000).await;
    let queries = ["topic3 word43", "note topic7 common", "word1999 usual", "topic11"];
    let mut exact = Vec::new();
    for query in queries {
        let answer = explained(&world, query, json!({"mode": "semantic"})).await;
        assert_eq!(answer["results"][0]["explain"]["vector_path"], "exact", "an index trained on nothing is not used");
        exact.push(
            answer["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|hit| hit["similarity"].as_f64().unwrap())
                .collect::<Vec<_>>(),
        );
    }
    let trained = world.memory.retrain_indexes().await.unwrap();
    assert_eq!(trained.len(), 1, "only what has grown: {trained:?}");
    assert_eq!((trained[0].relation, trained[0].lists, trained[0].rows), ("facts", 158, 4000));
    assert!(world.memory.retrain_indexes().await.unwrap().is_empty(), "a second run does nothing");
    let mut found = 0;
    for (query, exact) in queries.iter().zip(exact) {
        let answer = explained(&world, query, json!({"mode": "semantic"})).await;
        let results = answer["results"].as_array().unwrap();
        assert_eq!(results[0]["explain"]["vector_path"], "ann");
        assert!(results[0]["explain"]["probes"].as_i64().unwrap() > 0);
        assert_eq!(results.len(), 20);
        let worst = exact[19];
        found += results.iter().filter(|hit| hit["similarity"].as_f64().unwrap() >= worst - 1e-9).count();
    }
    // These vectors are hashes, the worst case for the index; the benchmark measures real ones.
    assert!(found >= 68, "{found} of 80");
}

#[tokio::test]
async fn an_exact_search_completes_too_few_results_of_the_approximate_index() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 4000).await;
    world.memory.retrain_indexes().await.unwrap();
    // Most facts are fading, so few of the nearest pass the confidence filter.
    world.db.execute("UPDATE facts SET last_confirmed_at = '2020-01-01' WHERE subject NOT LIKE 's100_'").await;
    let answer = explained(&world, "note topic7 common", json!({"mode": "semantic"})).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 10, "every memory that passes");
    assert_eq!(results[0]["explain"]["vector_path"], "ann+all");
}

#[tokio::test]
async fn a_large_store_finds_what_held_at_another_time_by_its_indexes() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 4000).await;
    // A third of the facts held in 2028, a third holds since then, the last third since 2029, and three held until 2001.
    world
        .db
        .execute(
            "UPDATE facts SET created_at = '2028-01-01', holds_from = '2028-01-01', holds_to = '2029-01-01', validity = 'superseded'
             WHERE substr(subject, 2)::int % 3 = 0;
             UPDATE facts SET holds_from = '2028-01-01' WHERE substr(subject, 2)::int % 3 = 1;
             UPDATE facts SET holds_from = '2029-01-01' WHERE substr(subject, 2)::int % 3 = 2;
             UPDATE facts SET holds_from = '-infinity', holds_to = '2001-01-01', validity = 'superseded' WHERE subject IN ('s5', 's107', 's2007');
             ANALYZE facts;",
        )
        .await;
    world.memory.retrain_indexes().await.unwrap();
    let number = |hit: &Value| hit["subject"].as_str().unwrap()[1..].parse::<u32>().unwrap();
    let paths = |hit: &Value| [&hit["explain"]["vector_path"], &hit["explain"]["keyword_path"]].map(Value::to_string);

    let answer = explained(&world, "topic7 word1227", json!({"valid_at": "2028-06-01"})).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!((results.len(), number(&results[0])), (20, 1227));
    assert_eq!(paths(&results[0]), [r#""held""#, r#""held""#]);
    assert!(results.iter().all(|hit| number(hit) % 3 < 2), "{results:?}");

    let answer = explained(&world, "topic7 word1227", json!({"as_of": "2028-06-01"})).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!((results.len(), number(&results[0])), (20, 1227));
    assert!(results.iter().all(|hit| number(hit) % 3 == 0), "the others were not known then: {results:?}");

    let answer = explained(&world, "common note", json!({"as_of": "2028-06-01"})).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 20, "every word is frequent");
    assert!(results.iter().all(|hit| number(hit) % 3 == 0), "{results:?}");

    let answer = explained(&world, "topic7", json!({"valid_at": "2000-06-01", "limit": 50})).await;
    let results = answer["results"].as_array().unwrap();
    let mut found: Vec<u32> = results.iter().map(number).collect();
    found.sort_unstable();
    assert_eq!(found, [5, 107, 2007]);
    assert_eq!(paths(&results[0]), [r#""fitting""#, r#""fitting""#], "so few are compared one by one");
}

#[tokio::test]
async fn a_small_tenant_in_a_large_table_is_searched_exactly() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 3000).await;
    world.memory.retrain_indexes().await.unwrap();
    let context = json!({"request_context": {"tenant_id": "small"}});
    let own = fact_with(&world, "safe", "note", "topic7 common word7", context.clone()).await;
    let answer = explained(&world, "topic7 common", context).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!(ids(results), [own]);
    assert_eq!(results[0]["explain"]["vector_path"], "exact");
    assert_eq!(results[0]["explain"]["keyword_path"], "scan");
}

#[tokio::test]
async fn frequent_terms_are_left_out_when_rarer_ones_exist() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 5000).await;
    let answer = explained(&world, "common word1234", json!({"mode": "keyword"})).await;
    let best = &answer["results"][0];
    assert_eq!(best["subject"], "s1234", "the rare term decides");
    let answer = explained(&world, "common note", json!({"mode": "keyword"})).await;
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 20);
    assert_eq!(results[0]["explain"]["keyword_path"], "newest", "every term is in half of the store");
    assert!(results.iter().all(|hit| hit["content"].as_str().unwrap().contains("common")), "all terms before any term");
}

#[tokio::test]
async fn of_frequent_terms_the_rows_with_several_are_found_unless_there_are_too_many() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 8000).await;
    let words = "UPDATE facts SET search_vector = search_vector || to_tsvector('english', concat_ws(' ',
                     CASE WHEN n % 11 = 0 THEN 'harbour' END, CASE WHEN n / 11 % 11 = 0 THEN 'violin' END,
                     CASE WHEN n % 11 = 1 THEN 'grey parrot' END))
                 FROM (SELECT f.id AS place, substr(f.subject, 2)::integer AS n FROM facts f) s WHERE s.place = facts.id;
                 ANALYZE facts";
    world.db.execute(words).await;
    let numbers = |answer: &Value| -> Vec<u32> {
        let hits = answer["results"].as_array().unwrap().iter();
        hits.map(|hit| hit["subject"].as_str().unwrap()[1..].parse().unwrap()).collect()
    };
    let rare_together = explained(&world, "harbour violin", json!({"mode": "keyword"})).await;
    assert_eq!(rare_together["results"][0]["explain"]["keyword_path"], "joint");
    assert!(numbers(&rare_together).iter().all(|n| n % 121 == 0), "both words: {:?}", numbers(&rare_together));
    let always_together = explained(&world, "grey parrot", json!({"mode": "keyword"})).await;
    assert_eq!(always_together["results"][0]["explain"]["keyword_path"], "newest");
    assert!(numbers(&always_together).iter().all(|n| n % 11 == 1 && *n > 7700), "{:?}", numbers(&always_together));
}

#[tokio::test]
async fn small_tables_are_not_trained() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 10).await;
    assert!(world.memory.retrain_indexes().await.unwrap().is_empty());
    assert_eq!(results(&world, "memory_search", json!({"query": "topic3"})).await.len(), 10);
}

#[tokio::test]
async fn a_large_table_is_estimated_from_statistics_and_a_small_one_is_counted() {
    let world = MemoryFixture::new().await;
    many_facts(&world, 100).await;
    let rows = async || -> i64 {
        let state = sqlx::query_scalar("SELECT rows FROM vector_index_state('facts')");
        state.fetch_one(&mut world.db.connect().await).await.unwrap()
    };
    assert_eq!(rows().await, 100);
    world.db.execute("UPDATE pg_class SET reltuples = 50000 WHERE oid = 'facts'::regclass").await;
    assert!((49_000..=51_000).contains(&rows().await), "{}", rows().await);
    world.db.execute("UPDATE pg_class SET reltuples = -1 WHERE oid = 'facts'::regclass").await;
    assert_eq!(rows().await, 100, "never analysed");
}
