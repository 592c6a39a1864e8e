//! Facts: schema and defaults, supersession by key, permanence, scopes, provenance.

use butler_testkit::{MemoryFixture, START};
use serde_json::{Value, json};

use crate::{assert_fields, count, entity, episode, events_of, fact, get, refused, row, rows, store_fact};

#[tokio::test]
async fn fact_schema_and_defaults() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "favorite_color", "blue").await;
    let stored = row(&memory, "facts", &id).await;
    let expected = json!({
        "tenant_id": "default", "subject": "user", "predicate": "favorite_color", "content": "blue",
        "importance": 5.0, "confidence": 1.0, "decay_rate": 0.008, "permanence": "standard",
        "source_butler": "general", "source_episode_id": null, "supersedes_id": null, "entity_id": null,
        "validity": "active", "scope": "global", "reference_count": 0, "last_referenced_at": null,
        "tags": [], "metadata": {},
    });
    assert_fields(&stored, &expected);
    let start: butler_domain::Timestamp = START.parse().unwrap();
    for key in ["created_at", "last_confirmed_at"] {
        assert_eq!(stored[key].as_str().unwrap().parse::<butler_domain::Timestamp>().unwrap(), start, "{key}");
    }
    let vectors = "facts WHERE vector_dims(embedding) = 384 AND search_vector @@ plainto_tsquery('english', 'favorite_color blue')";
    assert_eq!(count(&memory, vectors).await, 1);
    assert_eq!(
        count(&memory, "facts f JOIN embedding_versions v ON v.id = f.embedding_version_id AND v.model = 'fake'").await,
        1
    );
}

#[tokio::test]
async fn fact_starts_as_active() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "name", "John").await;
    let view = get(&memory, "fact", &id).await;
    assert_eq!((&view["validity"], &view["confidence"]), (&json!("active"), &json!(1.0)));
    assert_eq!(view["effective_confidence"], json!(1.0));
}

#[tokio::test]
async fn new_fact_supersedes_existing_fact_with_same_subject_and_predicate() {
    let memory = MemoryFixture::new().await;
    let green = fact(&memory, "user", "favorite_color", "green").await;
    let answer =
        store_fact(&memory, json!({"subject": "user", "predicate": "favorite_color", "content": "blue"})).await;
    let blue = &answer["id"];
    assert_eq!(answer["superseded_id"], green);
    assert_eq!(row(&memory, "facts", &green).await["validity"], "superseded");
    let new = row(&memory, "facts", blue).await;
    assert_eq!((&new["validity"], &new["supersedes_id"]), (&json!("active"), &green));
    let links =
        rows(&memory, "SELECT source_type, source_id, target_type, target_id, relation FROM memory_links").await;
    let link = json!({ "source_type": "fact", "source_id": blue, "target_type": "fact", "target_id": green, "relation": "supersedes" });
    assert_eq!(links, [link]);
    assert_eq!(events_of(&memory, &green).await, ["fact_created", "fact_superseded"]);
    assert_eq!(events_of(&memory, blue).await, ["fact_created"]);
}

#[tokio::test]
async fn no_supersession_when_subject_predicate_pair_is_unique() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "favorite_color", "green").await;
    let before = row(&memory, "facts", &id).await;
    let other = store_fact(&memory, json!({"subject": "user", "predicate": "favorite_food", "content": "rice"})).await;
    assert_eq!(other["superseded_id"], Value::Null);
    assert_eq!(row(&memory, "facts", &id).await, before);
    assert_eq!(count(&memory, "memory_links").await, 0);
}

#[tokio::test]
async fn the_same_key_can_be_active_in_two_scopes() {
    let memory = MemoryFixture::new().await;
    fact(&memory, "user", "diet", "vegan").await;
    let scoped = json!({"subject": "user", "predicate": "diet", "content": "keto", "scope": "health"});
    assert_eq!(store_fact(&memory, scoped).await["superseded_id"], Value::Null);
    assert_eq!(count(&memory, "facts WHERE validity = 'active'").await, 2);
}

#[tokio::test]
async fn the_key_of_a_fact_with_an_entity_is_entity_scope_and_predicate() {
    let memory = MemoryFixture::new().await;
    let anna = entity(&memory, "default", "Anna").await;
    let about = |subject: &str, content: &str| json!({"subject": subject, "predicate": "city", "content": content, "entity_id": anna});
    let first = store_fact(&memory, about("Anna", "Oslo")).await;
    let second = store_fact(&memory, about("my sister", "Bergen")).await;
    assert_eq!(second["superseded_id"], first["id"]);
    let plain = store_fact(&memory, json!({"subject": "Anna", "predicate": "city", "content": "Rome"})).await;
    assert_eq!(plain["superseded_id"], second["id"], "its subject names the entity");
    let elsewhere =
        json!({"subject": "Anna", "predicate": "city", "content": "Paris", "entity_id": anna, "scope": "travel"});
    assert_eq!(store_fact(&memory, elsewhere).await["superseded_id"], Value::Null);
}

#[tokio::test]
async fn store_fact_with_entity_id_validation() {
    let memory = MemoryFixture::new().await;
    let nobody = "0190b3c4-7a5e-7f00-8000-000000000000";
    let error = refused(
        &memory,
        "memory_store_fact",
        json!({"subject": "x", "predicate": "p", "content": "c", "entity_id": nobody}),
    )
    .await;
    assert_eq!(error.code.as_str(), "invalid_argument");
    assert!(error.message.contains(&format!("entity {nobody} does not exist")), "{}", error.message);
    let target = entity(&memory, "default", "Anna Berg").await;
    let merged = entity(&memory, "default", "Anna").await;
    let tombstone = format!(
        "UPDATE entities SET metadata = jsonb_build_object('merged_into', {}::text) WHERE id = {}",
        quoted(&target),
        quoted(&merged)
    );
    memory.db.execute(&tombstone).await;
    let error = refused(
        &memory,
        "memory_store_fact",
        json!({"subject": "x", "predicate": "p", "content": "c", "entity_id": merged}),
    )
    .await;
    assert!(error.message.contains("was merged into"), "{}", error.message);
    assert!(error.hint.unwrap().contains(target.as_str().unwrap()));
    assert_eq!(count(&memory, "facts").await, 0);
}

fn quoted(id: &Value) -> String {
    format!("'{}'", id.as_str().unwrap())
}

#[tokio::test]
async fn permanence_levels_and_their_decay_rates() {
    let memory = MemoryFixture::new().await;
    for (permanence, rate) in
        [("permanent", 0.0), ("stable", 0.002), ("standard", 0.008), ("volatile", 0.03), ("ephemeral", 0.1)]
    {
        let arguments = json!({"subject": "user", "predicate": permanence, "content": "x", "permanence": permanence});
        let id = store_fact(&memory, arguments).await["id"].clone();
        let stored = row(&memory, "facts", &id).await;
        assert_fields(&stored, &json!({"decay_rate": rate, "permanence": permanence}));
    }
}

#[tokio::test]
async fn a_fact_links_to_the_episode_it_was_learned_from() {
    let memory = MemoryFixture::new().await;
    let source = episode(&memory, "Anna said she moved to Oslo").await;
    let arguments = json!({"subject": "Anna", "predicate": "city", "content": "Oslo", "source_episode_id": source,
        "tags": "[\"people\", \"places\"]", "metadata": {"said_by": "Anna"}, "importance": 8});
    let id = store_fact(&memory, arguments).await["id"].clone();
    let stored = row(&memory, "facts", &id).await;
    assert_eq!(stored["source_episode_id"], source);
    assert_eq!((&stored["tags"], &stored["metadata"]), (&json!(["people", "places"]), &json!({"said_by": "Anna"})));
    assert_fields(&stored, &json!({"importance": 8}));
    let link = rows(&memory, "SELECT source_id, target_type, target_id, relation FROM memory_links").await;
    assert_eq!(
        link,
        [json!({"source_id": id, "target_type": "episode", "target_id": source, "relation": "derived_from"})]
    );
}

#[tokio::test]
async fn the_link_to_a_deleted_episode_stays_and_shows_that_it_is_gone() {
    let memory = MemoryFixture::new().await;
    let source = episode(&memory, "Anna said she moved to Oslo").await;
    let arguments = json!({"subject": "Anna", "predicate": "city", "content": "Oslo", "source_episode_id": source});
    let id = store_fact(&memory, arguments).await["id"].clone();
    memory.db.execute("DELETE FROM episodes").await;
    assert_eq!(row(&memory, "facts", &id).await["source_episode_id"], Value::Null);
    let end = butler_store::links::End {
        memory_type: butler_domain::MemoryType::Fact,
        id: id.as_str().unwrap().parse().unwrap(),
    };
    let links = memory.memory.get_links(&memory.as_test(), end, butler_store::links::Direction::Both).await.unwrap();
    assert_eq!((links.len(), links[0].source_exists, links[0].target_exists), (1, true, false));
}

#[tokio::test]
async fn a_retracted_fact_is_not_superseded_again() {
    let memory = MemoryFixture::new().await;
    let first = fact(&memory, "user", "car", "Volvo").await;
    memory.call("memory_forget", json!({"memory_type": "fact", "memory_id": first})).await.unwrap();
    let second = store_fact(&memory, json!({"subject": "user", "predicate": "car", "content": "Saab"})).await;
    assert_eq!(second["superseded_id"], Value::Null);
    assert_eq!(row(&memory, "facts", &first).await["validity"], "retracted");
}

#[tokio::test]
async fn get_memory_with_reference_bump() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "car", "Volvo").await;
    for expected in 1..=2 {
        memory.clock.advance_days(1.0);
        let view = get(&memory, "fact", &id).await;
        assert_eq!(view["reference_count"], expected);
        assert!(view.get("embedding").is_none() && view.get("search_vector").is_none());
        assert!(view["last_referenced_at"].as_str().unwrap() > view["created_at"].as_str().unwrap());
    }
}

#[tokio::test]
async fn source_butler_defaults_to_the_hosting_butler() {
    let memory = MemoryFixture::new().await;
    let own = fact(&memory, "user", "car", "Volvo").await;
    assert_eq!(row(&memory, "facts", &own).await["source_butler"], "general");
    let arguments = json!({"subject": "user", "predicate": "bike", "content": "red", "source_butler": "travel"});
    let named = store_fact(&memory, arguments).await["id"].clone();
    assert_eq!(row(&memory, "facts", &named).await["source_butler"], "travel");
    let arguments = json!({"content": "Ask first.", "source_butler": "travel"});
    let rule = memory.call("memory_store_rule", arguments).await.unwrap()["id"].clone();
    assert_eq!(row(&memory, "rules", &rule).await["source_butler"], "travel");
    let error = refused(&memory, "memory_store_rule", json!({"content": "x", "source_butler": " "})).await;
    assert!(error.message.contains("source_butler"), "{error:?}");
}
