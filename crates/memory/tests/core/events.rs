//! The audit log: who changed what in which request. It cannot be rewritten.

use butler_memory::{Caller, CallerTenant};
use butler_testkit::MemoryFixture;
use serde_json::json;

use crate::{episode, fact, rows};

#[tokio::test]
async fn fact_stored_event() {
    let memory = MemoryFixture::new().await;
    let caller = Caller {
        tenant: CallerTenant::Token(butler_domain::TenantId::new("acme").unwrap()),
        actor: Some("health".to_owned()),
        ..Caller::trusted()
    };
    let arguments =
        json!({"subject": "user", "predicate": "car", "content": "Volvo", "request_context": {"request_id": "req-7"}});
    let answer = memory.call_as(&caller, "memory_store_fact", arguments).await.unwrap().structured;
    assert_eq!(answer["request_id"], "req-7", "comes back in the answer");
    let found = rows(
        &memory,
        "SELECT event_type, actor, tenant_id, memory_type, memory_id, request_id, payload FROM memory_events",
    )
    .await;
    assert_eq!(found.len(), 1);
    let event = &found[0];
    assert_eq!((&event["event_type"], &event["actor"]), (&json!("fact_created"), &json!("health")));
    assert_eq!((&event["tenant_id"], &event["request_id"]), (&json!("acme"), &json!("req-7")));
    assert_eq!((&event["memory_type"], &event["memory_id"]), (&json!("fact"), &answer["id"]));
    let after = &event["payload"]["after"];
    assert_eq!(
        (&after["subject"], &after["content"], &after["validity"]),
        (&json!("user"), &json!("Volvo"), &json!("active"))
    );
}

#[tokio::test]
async fn memory_forgotten_event() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "car", "Volvo").await;
    memory
        .call("memory_forget", json!({"memory_type": "fact", "memory_id": id, "request_context": {"request_id": 42}}))
        .await
        .unwrap();
    let event =
        rows(&memory, "SELECT memory_id, request_id, payload FROM memory_events WHERE event_type = 'fact_forgotten'")
            .await;
    assert_eq!(
        event,
        [json!({"memory_id": id, "request_id": "42",
        "payload": {"before": {"validity": "active"}, "after": {"validity": "retracted"}}})]
    );
}

#[tokio::test]
async fn a_superseded_fact_knows_its_successor() {
    let memory = MemoryFixture::new().await;
    let old = fact(&memory, "user", "car", "Volvo").await;
    let new = fact(&memory, "user", "car", "Saab").await;
    let event =
        rows(&memory, "SELECT memory_id, payload FROM memory_events WHERE event_type = 'fact_superseded'").await;
    assert_eq!(
        event,
        [json!({"memory_id": old, "payload":
        {"before": {"validity": "active"}, "after": {"validity": "superseded"}, "superseded_by": new}})]
    );
    let sql = format!("SELECT payload FROM memory_events WHERE memory_id = '{}'", new.as_str().unwrap());
    assert_eq!(rows(&memory, &sql).await[0]["payload"]["supersedes_id"], old);
}

#[tokio::test]
async fn episode_stored_event_keeps_an_excerpt() {
    let memory = MemoryFixture::new().await;
    episode(&memory, &"long ".repeat(1000)).await;
    let event = rows(&memory, "SELECT event_type, payload FROM memory_events").await;
    assert_eq!(event[0]["event_type"], "episode_created");
    assert!(event[0]["payload"].to_string().len() < 1000);
}

/// This holds for the application's role and for the owner; the tests of `store` check the grants too.
#[tokio::test]
async fn events_cannot_be_changed_or_removed() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "user", "car", "Volvo").await;
    let mut conn = memory.db.connect().await;
    for statement in
        ["UPDATE memory_events SET actor = 'nobody'", "DELETE FROM memory_events", "TRUNCATE memory_events"]
    {
        let error = sqlx::raw_sql(statement).execute(&mut conn).await.unwrap_err();
        assert!(error.to_string().contains("append-only"), "{error}");
    }
}
