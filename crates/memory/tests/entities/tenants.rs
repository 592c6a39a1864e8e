use butler_domain::TenantId;
use butler_memory::{Caller, CallerTenant};
use butler_store::entities::{NameQuery, candidates};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{create, everything, fact, id, person};

fn of(tenant: &str) -> Caller {
    Caller { tenant: CallerTenant::Token(TenantId::new(tenant).expect("a name")), ..Caller::trusted() }
}

#[tokio::test]
async fn entities_of_another_tenant_are_neither_visible_nor_changeable() {
    let memory = MemoryFixture::new().await;
    let theirs =
        create(&memory, json!({ "canonical_name": "Chloe", "entity_type": "person", "tenant_id": "alice" })).await;
    let mallory = of("mallory");
    let made = json!({ "canonical_name": "Mine", "entity_type": "person" });
    let mine = id(&memory.call_as(&mallory, "entity_create", made).await.unwrap().structured["entity_id"]);
    let before = everything(&memory).await;
    let attempts = [
        ("entity_get", json!({ "entity_id": theirs })),
        ("entity_update", json!({ "entity_id": theirs, "aliases": ["x"] })),
        ("entity_merge", json!({ "source_entity_id": theirs, "target_entity_id": mine })),
        ("entity_merge", json!({ "source_entity_id": mine, "target_entity_id": theirs })),
    ];
    for (tool, arguments) in attempts {
        let error = memory.call_as(&mallory, tool, arguments).await.map(|_| ()).unwrap_err();
        assert_eq!(error.code.as_str(), "not_found", "{tool}");
    }
    let stored = json!({ "subject": "s", "predicate": "p", "content": "c", "entity_id": theirs });
    let error = memory.call_as(&mallory, "memory_store_fact", stored).await.map(|_| ()).unwrap_err();
    assert!(error.message.contains("does not exist"), "{}", error.message);
    let hints = json!({ "domain_scores": { theirs: 100 } });
    let arguments = json!({ "name": "chloe", "enable_fuzzy": true, "context_hints": hints });
    let found = memory.call_as(&mallory, "entity_resolve", arguments).await.unwrap();
    assert_eq!(found.structured["candidates"], json!([]));
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn with_a_token_a_differing_tenant_id_is_an_error() {
    let memory = MemoryFixture::new().await;
    for (tool, arguments) in [
        ("entity_create", json!({ "canonical_name": "X", "entity_type": "person", "tenant_id": "alice" })),
        ("entity_resolve", json!({ "name": "X", "tenant_id": "alice" })),
        ("entity_resolve", json!({ "name": "X", "request_context": { "tenant_id": "alice" } })),
    ] {
        let error = memory.call_as(&of("mallory"), tool, arguments.clone()).await.map(|_| ()).unwrap_err();
        assert_eq!(error.code.as_str(), "invalid_argument");
        memory.call_as(&of("alice"), tool, arguments).await.unwrap();
    }
}

#[tokio::test]
async fn a_trusted_caller_chooses_the_tenant() {
    let memory = MemoryFixture::new().await;
    create(&memory, json!({ "canonical_name": "Chloe", "entity_type": "person", "tenant_id": "alice" })).await;
    let found = |arguments: Value| {
        let memory = &memory;
        async move { super::resolve(memory, arguments).await.len() }
    };
    assert_eq!(found(json!({ "name": "chloe" })).await, 0, "the default tenant has none");
    assert_eq!(found(json!({ "name": "chloe", "tenant_id": "alice" })).await, 1);
    assert_eq!(found(json!({ "name": "chloe", "request_context": { "tenant_id": "alice" } })).await, 1);
}

#[tokio::test]
async fn the_resolution_function_rejects_a_tenant_other_than_the_connections() {
    let memory = MemoryFixture::new().await;
    let chloe = person(&memory, "Chloe", &[]).await;
    fact(&memory, &chloe, "plays", "chess").await;
    let mut conn = memory.db.database().tenant(&TenantId::new("mallory").unwrap()).await.unwrap();
    let query = NameQuery { name: "chloe", entity_type: None, fuzzy: true, known: &[], with_facts: true };
    let error = candidates(&mut conn, &TenantId::default(), &query).await.unwrap_err();
    assert!(error.to_string().contains("another tenant"), "{error}");
    // The application's role may not call its helper functions.
    let part = "SELECT similar_entities('default', 'chloe', NULL, 0.3, '{}', '{}', 10)";
    let error = conn.run(|pg| sqlx::query(part).execute(pg)).await.unwrap_err();
    assert!(error.to_string().contains("permission denied"), "{error}");
}
