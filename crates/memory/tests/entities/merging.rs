use std::time::Duration;

use butler_domain::{FactId, TenantId};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{create, fact, get, id, merge, one, person, resolve, rows, set_fact, stored_fact};

async fn two(memory: &MemoryFixture) -> (String, String) {
    (person(memory, "Chloe M.", &[]).await, person(memory, "Chloe Martin", &[]).await)
}

async fn link(memory: &MemoryFixture, winner: &str, loser: &str) -> Vec<Value> {
    rows(memory, &format!("SELECT relation FROM memory_links WHERE source_id = '{winner}' AND target_id = '{loser}'"))
        .await
}

#[tokio::test]
async fn fact_re_pointing_without_conflict() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    let lives = fact(&memory, &source, "lives_in", "Lyon").await;
    let works = fact(&memory, &target, "works_at", "Acme").await;
    let done = merge(&memory, &source, &target).await.unwrap();
    assert_eq!((&done["facts_repointed"], &done["facts_superseded"]), (&json!(1), &json!(0)));
    for kept in [&lives, &works] {
        let row = stored_fact(&memory, kept).await;
        assert_eq!((&row["entity_id"], &row["validity"]), (&json!(target), &json!("active")));
    }
    let events = rows(
        &memory,
        &format!("SELECT payload FROM memory_events WHERE memory_id = '{lives}' AND event_type = 'fact_repointed'"),
    )
    .await;
    let moved = json!({ "before": { "entity_id": source }, "after": { "entity_id": target } });
    assert_eq!(events, [json!({ "payload": moved })]);
}

#[tokio::test]
async fn facts_of_the_source_move_in_any_validity() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    let mut facts = Vec::new();
    for validity in ["active", "superseded", "expired", "retracted"] {
        let stored = fact(&memory, &source, validity, "x").await;
        set_fact(&memory, &stored, &format!("validity = '{validity}'")).await;
        facts.push((stored, validity));
    }
    let done = merge(&memory, &source, &target).await.unwrap();
    assert_eq!(done["facts_repointed"], 4);
    for (stored, validity) in facts {
        let row = stored_fact(&memory, &stored).await;
        assert_eq!((&row["entity_id"], &row["validity"]), (&json!(target), &json!(validity)));
    }
}

#[tokio::test]
async fn fact_conflict_resolution_by_confidence() {
    // The confidence of the source's and of the target's fact, and whether the source's fact wins.
    for (source_has, target_has, source_wins) in [(0.9, 0.5, true), (0.5, 0.9, false), (0.7, 0.7, false)] {
        let memory = MemoryFixture::new().await;
        let (source, target) = two(&memory).await;
        let from_source = fact(&memory, &source, "lives_in", "Lyon").await;
        let of_target = fact(&memory, &target, "lives_in", "Paris").await;
        set_fact(&memory, &from_source, &format!("confidence = {source_has}")).await;
        set_fact(&memory, &of_target, &format!("confidence = {target_has}")).await;
        let done = merge(&memory, &source, &target).await.unwrap();
        assert_eq!((&done["facts_superseded"], &done["facts_repointed"]), (&json!(1), &json!(1)));
        let (winner, loser) = if source_wins { (&from_source, &of_target) } else { (&of_target, &from_source) };
        let won = stored_fact(&memory, winner).await;
        assert_eq!((&won["validity"], &won["entity_id"]), (&json!("active"), &json!(target)));
        assert_eq!(won["supersedes_id"], json!(loser));
        let lost = stored_fact(&memory, loser).await;
        assert_eq!((&lost["validity"], &lost["entity_id"]), (&json!("superseded"), &json!(target)));
        assert_eq!(link(&memory, winner, loser).await, [json!({ "relation": "supersedes" })]);
        let sql =
            format!("SELECT payload FROM memory_events WHERE memory_id = '{loser}' AND event_type = 'fact_superseded'");
        assert_eq!(one(&memory, &sql).await["payload"]["superseded_by"], json!(winner));
    }
}

#[tokio::test]
async fn the_fact_with_the_higher_effective_confidence_wins() {
    // Stored confidence and days since the last confirmation. In the third case the difference is small; in the last there
    // is none, so the target's stays.
    for (of_the_source, of_the_target, source_wins) in [
        ((0.8, 0.0), (0.9, 60.0), true),
        ((0.9, 60.0), (0.8, 0.0), false),
        ((0.9, 0.0), (0.9, 0.04), true),
        ((0.9, 0.5), (0.9, 0.5), false),
    ] {
        let memory = MemoryFixture::new().await;
        let (source, target) = two(&memory).await;
        let from_source = fact(&memory, &source, "lives_in", "Lyon").await;
        let of_target = fact(&memory, &target, "lives_in", "Paris").await;
        for (id, (confidence, age)) in [(&from_source, of_the_source), (&of_target, of_the_target)] {
            let confirmed = memory.memory.now() - chrono::TimeDelta::seconds((age * 86_400.0) as i64);
            let set = format!("confidence = {confidence}, last_confirmed_at = '{}'", confirmed.to_rfc3339());
            set_fact(&memory, id, &set).await;
        }
        merge(&memory, &source, &target).await.unwrap();
        let winner = if source_wins { &from_source } else { &of_target };
        assert_eq!(stored_fact(&memory, winner).await["validity"], "active", "{of_the_source:?}");
    }
}

#[tokio::test]
async fn an_alias_list_beyond_the_limit_after_merges_can_be_kept_or_shortened_but_not_extended() {
    let memory = MemoryFixture::new().await;
    let forty = |letter: &str| (0..40).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
    let source = create(&memory, json!({"canonical_name": "A", "entity_type": "person", "aliases": forty("a")})).await;
    let target = create(&memory, json!({"canonical_name": "B", "entity_type": "person", "aliases": forty("b")})).await;
    merge(&memory, &source, &target).await.unwrap();
    let mut aliases = get(&memory, &target).await["aliases"].as_array().unwrap().clone();
    assert_eq!(aliases.len(), 81);
    let update = |aliases: &[Value]| json!({"entity_id": target, "aliases": aliases});
    memory.call("entity_update", update(&aliases)).await.unwrap();
    aliases.push(json!("one more"));
    let refused = memory.call("entity_update", update(&aliases)).await.unwrap_err();
    assert!(refused.message.contains("aliases: has 82 items; at most 81"), "{}", refused.message);
    memory.call("entity_update", update(&aliases[..70])).await.unwrap();
    assert!(memory.call("entity_update", update(&aliases[..71])).await.is_err());
}

#[tokio::test]
async fn facts_of_different_scopes_or_predicates_do_not_conflict() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    fact(&memory, &target, "lives_in", "Paris").await;
    let arguments =
        json!({ "subject": "s", "predicate": "lives_in", "content": "Lyon", "entity_id": source, "scope": "work" });
    memory.call("memory_store_fact", arguments).await.unwrap();
    fact(&memory, &source, "born_in", "Nice").await;
    let done = merge(&memory, &source, &target).await.unwrap();
    assert_eq!((&done["facts_superseded"], &done["facts_repointed"]), (&json!(0), &json!(2)));
}

#[tokio::test]
async fn a_winner_that_superseded_another_fact_names_the_loser_and_is_linked_to_both() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    let first = fact(&memory, &target, "lives_in", "Nantes").await;
    let second = fact(&memory, &target, "lives_in", "Paris").await;
    let loser = fact(&memory, &source, "lives_in", "Lyon").await;
    merge(&memory, &source, &target).await.unwrap();
    assert_eq!(stored_fact(&memory, &second).await["supersedes_id"], json!(loser));
    for old in [&first, &loser] {
        assert_eq!(link(&memory, &second, old).await, [json!({ "relation": "supersedes" })]);
    }
    // The history of each fact shows all three, except that two of them never superseded each other.
    let mut conn = memory.db.database().reader(&TenantId::default()).await.unwrap();
    for (at, versions) in [(&second, 3), (&first, 2), (&loser, 2)] {
        let chain =
            butler_store::browse::facts::chain(&mut conn, &TenantId::default(), at.parse().unwrap()).await.unwrap();
        assert_eq!(chain.len(), versions, "{chain:?}");
    }
    drop(conn);
    // Restoring either fact retracts the one that superseded it.
    let call = memory.as_test();
    let restored = memory.memory.restore_fact(&call, FactId(first.parse().unwrap())).await.unwrap().unwrap();
    assert_eq!(restored.retracted_id.map(|id| id.to_string()), Some(second));
}

#[tokio::test]
async fn a_winner_that_contradicted_the_loser_supersedes_it() {
    let memory = MemoryFixture::new().await;
    let (a, b) = (person(&memory, "Kim A", &["Kim"]).await, person(&memory, "Kim B", &["Kim"]).await);
    let bonn = json!({ "subject": "Kim", "predicate": "lives_in", "content": "Bonn" });
    let ambiguous = id(&memory.call("memory_store_fact", bonn).await.unwrap()["id"]);
    memory.clock.advance(Duration::from_secs(60));
    let ulm = json!({ "subject": "Kim", "predicate": "lives_in", "content": "Ulm", "entity_id": a });
    let own = id(&memory.call("memory_store_fact", ulm).await.unwrap()["id"]);
    memory.memory.db().settled().await;
    assert_eq!(link(&memory, &own, &ambiguous).await, [json!({ "relation": "contradicts" })]);
    merge(&memory, &b, &a).await.unwrap();
    assert_eq!(stored_fact(&memory, &ambiguous).await["validity"], "superseded", "it names one entity now");
    assert_eq!(link(&memory, &own, &ambiguous).await, [json!({ "relation": "supersedes" })]);
}

#[tokio::test]
async fn alias_and_metadata_merging() {
    let memory = MemoryFixture::new().await;
    let source = create(&memory, json!({
        "canonical_name": "Chloe M.", "entity_type": "person", "aliases": ["CLO", "Cee"], "metadata": { "city": "Lyon", "age": 30 },
    })).await;
    let target = create(&memory, json!({
        "canonical_name": "Chloe Martin", "entity_type": "person", "aliases": ["Clo"], "metadata": { "city": "Paris" },
    })).await;
    let done = merge(&memory, &source, &target).await.unwrap();
    assert_eq!(done["aliases_added"], 2);
    let seen = get(&memory, &target).await;
    assert_eq!(
        seen["aliases"],
        json!(["Clo", "Cee", "Chloe M."]),
        "appended, case does not count, the name itself too"
    );
    assert_eq!(seen["metadata"], json!({ "city": "Paris", "age": 30 }), "the target wins");
    let by_old_name = resolve(&memory, json!({ "name": "chloe m." })).await;
    assert_eq!((&by_old_name[0]["entity_id"], &by_old_name[0]["name_match"]), (&json!(target), &json!("alias")));
    let sql =
        format!("SELECT payload FROM memory_events WHERE memory_id = '{target}' AND event_type = 'entity_updated'");
    assert_eq!(one(&memory, &sql).await["payload"]["before"]["aliases"], json!(["Clo"]));
}

#[tokio::test]
async fn source_entity_tombstoning() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    let made = get(&memory, &source).await;
    memory.clock.advance(Duration::from_secs(60));
    merge(&memory, &source, &target).await.unwrap();
    let tombstone = get(&memory, &source).await;
    assert_eq!(tombstone["metadata"]["merged_into"], json!(target));
    assert_ne!(tombstone["updated_at"], made["updated_at"]);
    assert_eq!(tombstone["merged_into"], json!(target));
    assert_eq!(get(&memory, &target).await["updated_at"], tombstone["updated_at"]);
}

#[tokio::test]
async fn audit_event_for_merge() {
    let memory = MemoryFixture::new().await;
    let (source, target) = two(&memory).await;
    fact(&memory, &source, "lives_in", "Lyon").await;
    let arguments =
        json!({ "source_entity_id": source, "target_entity_id": target, "request_context": { "request_id": "r-9" } });
    let mut done = memory.call("entity_merge", arguments).await.unwrap();
    let event = one(&memory, "SELECT * FROM memory_events WHERE event_type = 'entity_merge'").await;
    assert_eq!(
        (&event["request_id"], &event["actor"], &event["memory_id"]),
        (&json!("r-9"), &json!("general"), &json!(source))
    );
    let payload = json!({
        "source_entity_id": source, "target_entity_id": target,
        "facts_repointed": 1, "facts_superseded": 0, "aliases_added": 1,
    });
    assert_eq!(event["payload"], payload, "exactly these");
    assert_eq!(done.as_object_mut().unwrap().remove("request_id"), Some(json!("r-9")));
    assert_eq!(done, payload, "and so is the answer");
}

#[tokio::test]
async fn a_chain_of_merges_resolves_to_the_final_entity() {
    let memory = MemoryFixture::new().await;
    let mut chain = Vec::new();
    for name in ["A", "B", "C", "D", "E"] {
        chain.push(person(&memory, &format!("Name {name}"), &[]).await);
        fact(&memory, chain.last().unwrap(), "letter", name).await;
    }
    let last = chain.pop().unwrap();
    for (i, entity) in chain.iter().enumerate() {
        let next = chain.get(i + 1).unwrap_or(&last);
        merge(&memory, entity, next).await.unwrap();
    }
    for (entity, letter) in chain.iter().zip(["A", "B", "C", "D"]) {
        assert_eq!(get(&memory, entity).await["merged_into"], json!(last));
        let found = resolve(&memory, json!({ "name": format!("name {letter}") })).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["entity_id"], json!(last));
    }
    assert_eq!(rows(&memory, &format!("SELECT id FROM facts WHERE entity_id = '{last}'")).await.len(), 5);
    assert_eq!(rows(&memory, "SELECT id FROM facts WHERE validity = 'active'").await.len(), 1);
}
