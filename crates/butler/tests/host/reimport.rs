//! Importing an export again: what was forgotten or erased since then stays away, and the import leaves its traces.

use butler_memory::jobs::JobRequest;
use butler_memory::transfer::{ImportOptions, ImportReport};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::transfer::{self, exported};

async fn import(into: &MemoryFixture, lines: &[String]) -> ImportReport {
    let by_tests = |options: &mut ImportOptions| options.origin.actor = Some("tests".to_owned());
    let report = transfer::import(into, lines, by_tests).await.unwrap();
    assert!(report.committed, "{:?}", report.problems);
    report
}

async fn count(of: &MemoryFixture, what: &'static str) -> i64 {
    let statement = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {what}"));
    sqlx::query_scalar(statement).fetch_one(&mut of.db.connect().await).await.unwrap()
}

async fn execute(of: &MemoryFixture, statement: &'static str) {
    sqlx::query(statement).execute(&mut of.db.connect().await).await.unwrap();
}

/// Anna's facts, one of them with an older version, and a rule about nobody.
async fn erased_after_an_export() -> (MemoryFixture, Vec<String>) {
    let memory = MemoryFixture::new().await;
    let call = async |tool: &str, arguments: Value| memory.call(tool, arguments).await.unwrap();
    let anna = call("entity_create", json!({"canonical_name": "Anna", "entity_type": "person"})).await;
    for (predicate, content) in [("city", "Oslo by the fjord"), ("city", "Rome on the Tiber"), ("diet", "No nuts")] {
        call("memory_store_fact", json!({"subject": "Anna", "predicate": predicate, "content": content})).await;
        memory.clock.advance_days(1.0);
    }
    call("memory_store_fact", json!({"subject": "Bob", "predicate": "city", "content": "Bern"})).await;
    call("memory_store_rule", json!({"content": "Ask first"})).await;
    let file = exported(&memory).await;
    call("entity_forget", json!({"entity_id": anna["entity_id"], "erase": true, "dry_run": false})).await;
    (memory, file)
}

#[tokio::test]
async fn an_export_from_before_an_erasure_brings_no_erased_statement_back() {
    let (memory, file) = erased_after_an_export().await;
    // Events older than the retention are gone, so the file has what the database no longer knows.
    for statement in ["ALTER TABLE memory_events DISABLE TRIGGER USER", "DELETE FROM memory_events"] {
        execute(&memory, statement).await;
    }
    let report = import(&memory, &file).await;
    let facts = &report.kinds["fact"];
    assert_eq!((facts.suppressed, facts.suppressed_by.erased), (3, 3), "the old version, too: {report:?}");
    assert!(report.kinds["event"].suppressed_by.erased >= 4, "{report:?}");
    assert_eq!(count(&memory, "facts WHERE subject = 'Anna'").await, 0);
    assert_eq!(count(&memory, "facts WHERE subject = 'Bob'").await, 1);
    for word in ["fjord", "Tiber", "nuts"] {
        let statement = sqlx::AssertSqlSafe(format!(
            "SELECT (SELECT count(*) FROM memory_events WHERE payload::text LIKE '%{word}%')
                  + (SELECT count(*) FROM facts WHERE content LIKE '%{word}%')"
        ));
        let found: i64 = sqlx::query_scalar(statement).fetch_one(&mut memory.db.connect().await).await.unwrap();
        assert_eq!(found, 0, "{word}");
    }
    let dangling =
        "memory_links l WHERE l.source_type = 'fact' AND NOT EXISTS (SELECT FROM facts f WHERE f.id = l.source_id)";
    assert_eq!(count(&memory, dangling).await, 0, "no links of what stayed away");
}

#[tokio::test]
async fn an_import_lifts_no_tombstone_that_stands() {
    let memory = MemoryFixture::new().await;
    let fact = json!({"subject": "Anna", "predicate": "city", "content": "Oslo"});
    let id = memory.call("memory_store_fact", fact.clone()).await.unwrap()["id"].clone();
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    let mut file = exported(&memory).await;
    let stone = json!({"type": "tombstone", "id": uuid::Uuid::new_v4(), "memory_type": "fact", "memory_id": id,
        "created_at": "2030-01-15T12:00:00Z", "suppressed": 0, "allowed_at": "2030-01-15T12:00:00Z", "allowed_by": "me"});
    let event = file.iter().position(|line| line.contains("\"type\" : \"event\"")).unwrap();
    file.insert(event, stone.to_string());
    import(&memory, &file).await;
    assert_eq!(count(&memory, "tombstones WHERE allowed_at IS NOT NULL").await, 0);
    let error = memory.call("memory_store_fact", fact).await.unwrap_err();
    assert!(error.message.contains("was forgotten"), "{}", error.message);
}

#[tokio::test]
async fn an_import_is_an_event_of_its_own_unless_it_changes_nothing() {
    let here = MemoryFixture::new().await;
    here.call("memory_store_rule", json!({"content": "Ask first"})).await.unwrap();
    let file = exported(&here).await;
    let there = MemoryFixture::new().await;
    for _ in 0..2 {
        import(&there, &file).await;
    }
    let events: Vec<(Option<String>, Value)> =
        sqlx::query_as("SELECT actor, payload FROM memory_events WHERE event_type = 'memory_imported'")
            .fetch_all(&mut there.db.connect().await)
            .await
            .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].0.as_deref(), Some("tests"));
    assert_eq!(events[0].1["format"], "butler-memory");
}

#[tokio::test]
async fn conflicts_of_imported_facts_are_found_whatever_their_age() {
    let here = MemoryFixture::new().await;
    for (scope, content) in [("global", "Wants to weigh 72 kg"), ("health", "Wants to weigh 75 kg")] {
        let fact = json!({"subject": "Anna", "predicate": "weight_goal", "content": content, "scope": scope});
        here.call("memory_store_fact", fact).await.unwrap();
    }
    // A listing waits for the search that storing started.
    here.call("memory_conflicts", json!({"action": "list"})).await.unwrap();
    execute(&here, "DELETE FROM conflicts").await;
    let file = exported(&here).await;
    let there = MemoryFixture::new().await;
    there.clock.advance_days(30.0);
    import(&there, &file).await;
    let report = there.memory.run_job("conflicts", &JobRequest::default()).await.unwrap();
    assert_eq!((&report["facts_compared"], &report["conflicts_found"]), (&json!(2), &json!(1)));
    assert_eq!(count(&there, "conflicts").await, 1);
    let again = there.memory.run_job("conflicts", &JobRequest::default()).await.unwrap();
    assert_eq!(again["facts_compared"], 0, "they are compared once");
}
