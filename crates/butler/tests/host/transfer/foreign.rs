//! Import of the memories of other programs.

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_memory::transfer::{FileFormat, ForeignFormat, ImportOptions, detect_format};
use butler_store::idempotency;
use butler_testkit::MemoryFixture;
use serde_json::json;

#[tokio::test]
async fn memories_of_other_programs_become_facts_once() {
    let mem0 = json!({"results": [
        {"id": "1", "memory": "Likes hiking", "user_id": "alex", "categories": ["sport"], "created_at": "2024-01-01T00:00:00Z"},
        {"id": "2", "memory": "Is vegetarian", "user_id": "alex"}]})
    .to_string();
    let graph = "{\"type\":\"entity\",\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"likes tea\",\"writes programs\"]}\n\
                 {\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[]}\n\
                 {\"type\":\"relation\",\"from\":\"Ada\",\"to\":\"Acme\",\"relationType\":\"works at\"}";
    let claude = "# Style\n- Use tabs\n- Write tests first\n\n## Commands\nRun `make` to build.\n";
    for (text, name, format) in [
        (&mem0[..], None, Some(ForeignFormat::Mem0)),
        (graph, Some("memory.jsonl"), Some(ForeignFormat::McpMemory)),
        (claude, None, Some(ForeignFormat::ClaudeCode)),
        ("Prefers tabs.", Some("CLAUDE.MD"), Some(ForeignFormat::ClaudeCode)),
        ("Prefers tabs.", None, None),
        (claude, Some("notes.txt"), None),
        ("garbage", Some("g.bin"), None),
    ] {
        assert_eq!(detect_format(text, name), format.map(FileFormat::Foreign), "{name:?}: {text}");
    }
    let there = MemoryFixture::new().await;
    let options =
        ImportOptions { tenant: TenantId::default(), dry_run: false, partial: false, origin: Origin::default() };
    for (format, text, facts) in [
        (ForeignFormat::Mem0, mem0.as_str(), 2),
        (ForeignFormat::McpMemory, graph, 3),
        (ForeignFormat::ClaudeCode, claude, 3),
    ] {
        let trial = ImportOptions { dry_run: true, ..options.clone() };
        let tried = there.memory.import_foreign(format, text, "CLAUDE", &trial, &|_, _| ()).await.unwrap();
        assert_eq!((tried.kinds["fact"].created, tried.committed), (facts, false), "a dry run counts: {tried:?}");
        let first = there.memory.import_foreign(format, text, "CLAUDE", &options, &|_, _| ()).await.unwrap();
        assert_eq!(first.kinds["fact"].created, facts, "{first:?}");
        assert_eq!(tried.kinds, first.kinds, "the dry run predicts the import");
        there.clock.advance_days(0.1);
        let tried = there.memory.import_foreign(format, text, "CLAUDE", &trial, &|_, _| ()).await.unwrap();
        assert_eq!((tried.created(), tried.kinds["fact"].existing), (0, facts), "{tried:?}");
        let second = there.memory.import_foreign(format, text, "CLAUDE", &options, &|_, _| ()).await.unwrap();
        assert_eq!((second.created(), second.kinds["fact"].existing), (0, facts), "{second:?}");
    }
    let found = there.call("memory_search", json!({"query": "works at Acme", "limit": 1})).await.unwrap();
    assert_eq!(found["results"][0]["content"], "Acme", "{found}");
    let ada = there.call("entity_resolve", json!({"name": "Ada"})).await.unwrap()["candidates"][0]["entity_id"].clone();
    let around = there.call("entity_neighbors", json!({"entity_id": ada})).await.unwrap();
    assert_eq!(around["entities"][1]["canonical_name"], "Acme", "a relation is an edge: {around}");
    // After a year the idempotency keys are pruned. Facts forgotten since then stay forgotten.
    there.clock.advance_days(365.0);
    let pruned = async { idempotency::prune(&mut *there.memory.db().owner().await?, there.memory.now()).await };
    assert_eq!(pruned.await.unwrap(), 8);
    let tea =
        there.call("memory_search", json!({"query": "likes tea", "min_confidence": 0, "limit": 1})).await.unwrap();
    let id = &tea["results"][0]["id"];
    there.call("memory_forget", json!({"memory_type": "fact", "memory_id": id})).await.unwrap();
    let later = there.memory.import_foreign(ForeignFormat::McpMemory, graph, "x", &options, &|_, _| ()).await.unwrap();
    assert_eq!((later.created(), later.kinds["fact"].existing), (0, 3), "{later:?}");
    let bad = there
        .memory
        .import_foreign(ForeignFormat::Mem0, "{\"memory\": \"a\"}\n{oops", "x", &options, &|_, _| ())
        .await
        .unwrap();
    assert!(!bad.committed && bad.problems[0].line == Some(2), "{bad:?}");
}

#[tokio::test]
async fn several_relations_of_one_kind_are_all_kept() {
    let graph = r#"{"type":"entity","name":"Ada","entityType":"person","observations":[]}
        {"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}
        {"type":"relation","from":"Ada","to":"Cid","relationType":"knows"}
        {"type":"relation","from":"Ada","to":"Bob","relationType":"married to"}
        {"type":"relation","from":"Ada","to":"Dan","relationType":"married to"}"#;
    let there = MemoryFixture::new().await;
    let options =
        ImportOptions { tenant: TenantId::default(), dry_run: false, partial: false, origin: Origin::default() };
    let report = there.memory.import_foreign(ForeignFormat::McpMemory, graph, "x", &options, &|_, _| ()).await.unwrap();
    assert_eq!(report.kinds["fact"].created, 4, "{report:?}");
    let stats = there.call("memory_stats", json!({})).await.unwrap();
    assert_eq!(stats["facts"]["active"], 4, "{stats}");
}
