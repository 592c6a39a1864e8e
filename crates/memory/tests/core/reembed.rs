//! After a change of the model, all memories are embedded again, in batches, also after a kill.

use std::sync::Arc;
use std::sync::Mutex;

use butler_domain::Butler;
use butler_memory::{Memory, MemoryConfig, MemoryParts, ReembedProgress, ReembedReport};
use butler_testkit::{FakeEmbedder, MemoryFixture};
use serde_json::json;

use crate::{count, episode, fact, rows, rule};

/// The same memory after an upgrade of the model.
fn upgraded(memory: &MemoryFixture) -> (Arc<Memory>, Arc<FakeEmbedder>) {
    let embedder = Arc::new(FakeEmbedder::of_version("2"));
    let parts = MemoryParts {
        butler: Butler::new("general").unwrap(),
        db: memory.db.database().clone(),
        embedder: embedder.clone(),
        clock: memory.clock.clone(),
        config: MemoryConfig::default(),
    };
    (Arc::new(Memory::new(parts)), embedder)
}

#[tokio::test]
async fn embedding_model_version_recorded() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "user", "car", "Volvo").await;
    rule(&memory, "Ask first").await;
    let known = rows(&memory, "SELECT model, version, dimensions FROM embedding_versions").await;
    assert_eq!(known, [json!({"model": "fake", "version": "1", "dimensions": 384})]);
    let embedded = "SELECT 'fact' AS kind FROM facts JOIN embedding_versions v ON v.id = embedding_version_id
                    UNION ALL SELECT 'rule' FROM rules JOIN embedding_versions v ON v.id = embedding_version_id ORDER BY 1";
    assert_eq!(rows(&memory, embedded).await, [json!({"kind": "fact"}), json!({"kind": "rule"})]);
}

#[tokio::test]
async fn re_embed_migration_support() {
    let memory = MemoryFixture::new().await;
    let old = fact(&memory, "user", "car", "Volvo").await;
    fact(&memory, "user", "car", "Saab").await;
    rule(&memory, "Ask first").await;
    episode(&memory, "It rained").await;
    memory
        .db
        .execute(
            "INSERT INTO facts (tenant_id, subject, predicate, content) VALUES ('other', 's', 'p', 'never embedded')",
        )
        .await;
    let (upgraded, embedder) = upgraded(&memory);
    let seen = Mutex::new(Vec::new());
    let report = upgraded.reembed(None, &|at| seen.lock().unwrap().push(at)).await.unwrap();
    assert_eq!(report, ReembedReport { episodes: 1, facts: 3, rules: 1, ..ReembedReport::default() });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.first(), Some(&ReembedProgress { done: 0, total: 5 }));
    assert_eq!(seen.last(), Some(&ReembedProgress { done: 5, total: 5 }));
    for table in ["facts", "rules", "episodes"] {
        let stale = format!(
            "{table} t LEFT JOIN embedding_versions v ON v.id = t.embedding_version_id AND v.tenant_id = t.tenant_id WHERE v.version IS DISTINCT FROM '2'"
        );
        assert_eq!(count(&memory, &stale).await, 0, "{table}");
    }
    // It must embed the same text as storing: subject, predicate and content together.
    let sql = format!("SELECT embedding::real[] AS v FROM facts WHERE id = '{}'", old.as_str().unwrap());
    let vector: Vec<f32> = serde_json::from_value(rows(&memory, &sql).await[0]["v"].clone()).unwrap();
    assert_eq!(vector, embedder.vector(&butler_domain::text::fact_text("user", "car", "Volvo")).to_vec());
    assert_eq!(
        count(&memory, "memory_events WHERE event_type = 'reembedded' AND (payload ->> 'count')::int > 0").await,
        4
    );
    assert_eq!(upgraded.reembed(None, &|_| {}).await.unwrap(), ReembedReport::default(), "done is done");
}

#[tokio::test]
async fn a_killed_job_continues_where_it_stopped() {
    let memory = MemoryFixture::new().await;
    memory.db.execute("INSERT INTO facts (subject, predicate, content) SELECT 's' || i, 'p', 'text ' || i FROM generate_series(1, 300) i").await;
    let (upgraded, embedder) = upgraded(&memory);
    let (reached, mut wait) = tokio::sync::mpsc::unbounded_channel();
    let job = tokio::spawn({
        let upgraded = upgraded.clone();
        async move {
            let progress = |at: ReembedProgress| {
                if at.done > 0 {
                    let _ = reached.send(());
                }
            };
            upgraded.reembed(None, &progress).await
        }
    });
    wait.recv().await.expect("the first batch");
    job.abort();
    let _ = job.await;
    let done = count(&memory, "facts WHERE embedding IS NOT NULL").await;
    assert!(done >= 64, "the work before the kill is kept: {done}");
    let report = upgraded.reembed(None, &|_| {}).await.unwrap();
    assert_eq!(count(&memory, "facts WHERE embedding IS NULL").await, 0);
    assert!(report.facts as i64 <= 300 - done, "nothing is done twice but the batch in flight");
    assert!(embedder.texts() <= 300 + 64, "{}", embedder.texts());
}
