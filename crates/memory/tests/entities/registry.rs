use std::time::Duration;

use butler_testkit::MemoryFixture;
use serde_json::json;

use super::{create, get, id, one, person, rows};

#[tokio::test]
async fn entity_schema() {
    let memory = MemoryFixture::new().await;
    let arguments = json!({
        "canonical_name": "Chloe Martin", "entity_type": "person", "tenant_id": "default",
        "aliases": ["Clo", "Ms Martin"], "metadata": { "city": "Lyon" },
    });
    let made = memory.call("entity_create", arguments).await.unwrap();
    let entity = id(&made["entity_id"]);
    let row = one(&memory, &format!("SELECT * FROM entities WHERE id = '{entity}'")).await;
    assert_eq!(row["tenant_id"], "default");
    assert_eq!(row["canonical_name"], "Chloe Martin");
    assert_eq!(row["entity_type"], "person");
    assert_eq!(row["aliases"], json!(["Clo", "Ms Martin"]));
    assert_eq!(row["metadata"], json!({ "city": "Lyon" }));
    assert_eq!(row["created_at"], row["updated_at"]);
    let seen = get(&memory, &entity).await;
    for key in ["tenant_id", "canonical_name", "entity_type", "aliases", "metadata"] {
        assert_eq!(seen[key], row[key], "{key}");
    }
    assert_eq!((&seen["id"], &seen["entity_id"]), (&json!(entity), &json!(entity)));
    assert_eq!(seen["merged_into"], json!(null));
}

#[tokio::test]
async fn aliases_and_metadata_default_to_empty() {
    let memory = MemoryFixture::new().await;
    let entity = create(&memory, json!({ "canonical_name": "Lyon", "entity_type": "place" })).await;
    let seen = get(&memory, &entity).await;
    assert_eq!((&seen["aliases"], &seen["metadata"]), (&json!([]), &json!({})));
}

#[tokio::test]
async fn uniqueness_constraint_on_entities() {
    let memory = MemoryFixture::new().await;
    let first = person(&memory, "Chloe", &[]).await;
    let again = json!({ "canonical_name": "Chloe", "entity_type": "person" });
    let error = memory.call("entity_create", again).await.unwrap_err();
    assert_eq!(error.code.as_str(), "conflict");
    assert!(error.message.contains(&first), "{}", error.message);
    // another type, spelling or tenant is another entity
    create(&memory, json!({ "canonical_name": "Chloe", "entity_type": "organization" })).await;
    create(&memory, json!({ "canonical_name": "chloe", "entity_type": "person" })).await;
    create(&memory, json!({ "canonical_name": "Chloe", "entity_type": "person", "tenant_id": "other" })).await;
    assert_eq!(rows(&memory, "SELECT id FROM entities").await.len(), 4);
}

#[tokio::test]
async fn entity_type_validation_lists_the_valid_types() {
    let memory = MemoryFixture::new().await;
    let unknown = json!({ "canonical_name": "Rex", "entity_type": "dog" });
    let error = memory.call("entity_create", unknown).await.unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_argument");
    for valid in ["person", "organization", "place", "other"] {
        assert!(error.message.contains(valid), "{}", error.message);
    }
}

#[tokio::test]
async fn entity_update_semantics() {
    let memory = MemoryFixture::new().await;
    let arguments = json!({
        "canonical_name": "Chloe", "entity_type": "person", "aliases": ["Clo", "C."], "metadata": { "a": 1, "b": { "x": 1 } },
    });
    let entity = create(&memory, arguments).await;
    let before = get(&memory, &entity).await;
    memory.clock.advance(Duration::from_secs(3600));
    let change = json!({
        "entity_id": entity, "canonical_name": "Chloe Martin", "aliases": ["Clo"], "metadata": { "b": { "y": 2 }, "c": null },
    });
    let after = memory.call("entity_update", change).await.unwrap();
    assert_eq!(after["canonical_name"], "Chloe Martin", "replaced");
    assert_eq!(after["aliases"], json!(["Clo"]), "all replaced");
    assert_eq!(after["metadata"], json!({ "a": 1, "b": { "y": 2 }, "c": null }), "keys merged");
    assert_eq!(after["created_at"], before["created_at"]);
    assert_ne!(after["updated_at"], before["updated_at"], "set to now");
    assert_eq!(get(&memory, &entity).await, after);

    // what is left out stays
    let after = memory.call("entity_update", json!({ "entity_id": entity, "aliases": [] })).await.unwrap();
    assert_eq!((&after["canonical_name"], &after["aliases"]), (&json!("Chloe Martin"), &json!([])));
    assert_eq!(after["metadata"]["a"], 1);
}

#[tokio::test]
async fn every_change_has_its_event_with_actor_and_request() {
    let memory = MemoryFixture::new().await;
    let arguments = json!({
        "canonical_name": "Chloe", "entity_type": "person", "request_context": { "request_id": "r-1" },
    });
    let made = memory.call("entity_create", arguments).await.unwrap();
    assert_eq!(made["request_id"], "r-1");
    let entity = id(&made["entity_id"]);
    memory.clock.advance(Duration::from_secs(1));
    let change =
        json!({ "entity_id": entity, "canonical_name": "Chloe M", "request_context": { "request_id": "r-2" } });
    memory.call("entity_update", change).await.unwrap();
    let sql = format!("SELECT * FROM memory_events WHERE memory_id = '{entity}' ORDER BY created_at");
    let events = rows(&memory, &sql).await;
    assert_eq!(events.len(), 2);
    assert_eq!((&events[0]["event_type"], &events[0]["request_id"]), (&json!("entity_created"), &json!("r-1")));
    assert_eq!(events[0]["actor"], "general");
    assert_eq!(events[0]["payload"]["after"]["canonical_name"], "Chloe");
    assert_eq!((&events[1]["event_type"], &events[1]["request_id"]), (&json!("entity_updated"), &json!("r-2")));
    let changed = json!({ "before": { "canonical_name": "Chloe" }, "after": { "canonical_name": "Chloe M" } });
    assert_eq!(events[1]["payload"], changed);
}

#[tokio::test]
async fn a_name_is_one_line_without_blanks_around_it() {
    let memory = MemoryFixture::new().await;
    let entity = person(&memory, "  Ada \n Lovelace ", &["Countess\tof  Lovelace"]).await;
    let seen = get(&memory, &entity).await;
    assert_eq!(seen["canonical_name"], "Ada Lovelace");
    assert_eq!(seen["aliases"], json!(["Countess of Lovelace"]));
}
