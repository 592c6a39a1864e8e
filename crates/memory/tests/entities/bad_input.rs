use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use super::{everything, fact, get, merge, person};

async fn refused(memory: &MemoryFixture, tool: &str, arguments: Value) -> (String, String) {
    let before = everything(memory).await;
    let shown = format!("{tool} {}", arguments.to_string().chars().take(200).collect::<String>());
    let error = match memory.call(tool, arguments).await {
        Err(error) => error,
        Ok(answer) => panic!("{shown} was accepted: {answer}"),
    };
    assert!(error.hint.is_some() || error.code.as_str() == "invalid_argument", "{shown}: {error:?}");
    assert_eq!(everything(memory).await, before, "{shown} wrote something");
    (error.code.as_str().to_owned(), error.message)
}

#[tokio::test]
async fn an_object_is_given_by_id_or_by_name() {
    let memory = MemoryFixture::new().await;
    let bob = person(&memory, "Bob", &[]).await;
    let both =
        json!({"subject": "Ann", "predicate": "knows", "content": "Bob", "object": "Bob", "object_entity_id": bob});
    let refused = memory.call("memory_store_fact", both).await.expect_err("both");
    assert!(format!("{refused:?}").contains("object_entity_id"), "{refused:?}");
    let blank =
        json!({"subject": "Ann", "predicate": "knows", "content": "Bob", "object": "", "object_entity_id": bob});
    memory.call("memory_store_fact", blank).await.expect("a blank name counts as omitted");
}

#[tokio::test]
async fn bad_names_aliases_and_metadata_write_nothing() {
    let memory = MemoryFixture::new().await;
    let anna = person(&memory, "Anna", &[]).await;
    let long = "x".repeat(10_000);
    let cases = [
        ("entity_create", json!({ "canonical_name": "X", "entity_type": "dog" }), "valid values: person"),
        ("entity_create", json!({ "canonical_name": "X" }), "entity_type: is required"),
        ("entity_create", json!({ "canonical_name": " \n", "entity_type": "person" }), "must not be empty"),
        ("entity_create", json!({ "canonical_name": long, "entity_type": "person" }), "10000 bytes long"),
        ("entity_create", json!({ "canonical_name": 5, "entity_type": "person" }), "must be a string"),
        (
            "entity_create",
            json!({ "canonical_name": "X", "entity_type": "person", "aliases": ["a", "A"] }),
            "case is ignored",
        ),
        (
            "entity_create",
            json!({ "canonical_name": "X", "entity_type": "person", "aliases": ["a", ""] }),
            "aliases[1]",
        ),
        ("entity_create", json!({ "canonical_name": "X", "entity_type": "person", "aliases": [long] }), "aliases[0]"),
        ("entity_create", json!({ "canonical_name": "X", "entity_type": "person", "aliases": "x" }), "list of strings"),
        (
            "entity_create",
            json!({ "canonical_name": "X", "entity_type": "person", "metadata": [] }),
            "must be an object",
        ),
        (
            "entity_create",
            json!({ "canonical_name": "X", "entity_type": "person", "metadata": { "merged_into": anna } }),
            "metadata.merged_into",
        ),
        ("entity_create", json!({ "canonical_name": "X", "entity_type": "person", "alias": ["a"] }), "not an argument"),
        ("entity_update", json!({ "entity_id": anna, "metadata": { "merged_into": null } }), "metadata.merged_into"),
        ("entity_update", json!({ "entity_id": anna, "canonical_name": "" }), "must not be empty"),
        ("entity_update", json!({ "entity_id": anna, "aliases": ["b", "B"] }), "case is ignored"),
        ("entity_update", json!({ "entity_id": anna }), "contain no change"),
        ("entity_update", json!({ "entity_id": "anna", "aliases": [] }), "not a UUID"),
        ("entity_resolve", json!({ "name": "" }), "must not be empty"),
        ("entity_resolve", json!({ "name": long }), "10000 bytes long"),
        ("entity_resolve", json!({ "name": "a", "entity_type": "dog" }), "valid values: person"),
        ("entity_resolve", json!({ "name": "a", "enable_fuzzy": "maybe" }), "true or false"),
        ("entity_resolve", json!({ "name": "a", "context_hints": { "domain_scores": { "x": 1 } } }), "not a UUID"),
        ("entity_get", json!({ "entity_id": "x" }), "not a UUID"),
    ];
    for (tool, arguments, expected) in cases {
        let (code, message) = refused(&memory, tool, arguments).await;
        assert_eq!(code, "invalid_argument", "{message}");
        assert!(message.contains(expected), "{message} should say {expected}");
    }
}

#[tokio::test]
async fn metadata_that_would_exceed_its_limit_is_rejected() {
    let memory = MemoryFixture::new().await;
    let anna = person(&memory, "Anna", &[]).await;
    let half = "x".repeat(40_000);
    memory.call("entity_update", json!({ "entity_id": anna, "metadata": { "a": half } })).await.unwrap();
    let (code, message) =
        refused(&memory, "entity_update", json!({ "entity_id": anna, "metadata": { "b": half } })).await;
    assert_eq!(code, "invalid_argument");
    assert!(message.contains("at most 65536"), "{message}");
}

#[tokio::test]
async fn merge_validation() {
    let memory = MemoryFixture::new().await;
    let [a, b, c, d] = [
        person(&memory, "A", &[]).await,
        person(&memory, "B", &[]).await,
        person(&memory, "C", &[]).await,
        person(&memory, "D", &[]).await,
    ];
    merge(&memory, &a, &b).await.unwrap();
    merge(&memory, &b, &c).await.unwrap();
    let both = |source: &str, target: &str| json!({ "source_entity_id": source, "target_entity_id": target });
    let unknown = "0190b3c4-7a5e-7f00-8000-000000000000";
    let cases = [
        (both(&d, &d), "invalid_argument", "itself".to_owned()),
        (both(&a, &d), "invalid_state", format!("source entity {a} was merged into {c}")),
        (both(&d, &a), "invalid_state", format!("target entity {a} was merged into {c}")),
        (both(&c, &b), "invalid_state", format!("target entity {b} was merged into {c}")),
        (both(unknown, &d), "not_found", unknown.to_owned()),
        (both(&d, unknown), "not_found", unknown.to_owned()),
        (both("x", &d), "invalid_argument", "source_entity_id".to_owned()),
    ];
    for (arguments, code, expected) in cases {
        let (found, message) = refused(&memory, "entity_merge", arguments).await;
        assert_eq!(found, code, "{message}");
        assert!(message.contains(&expected), "{message} should say {expected}");
    }
}

#[tokio::test]
async fn a_duplicate_names_the_existing_id_and_where_it_was_merged_to() {
    let memory = MemoryFixture::new().await;
    let [a, b, c] = [person(&memory, "A", &[]).await, person(&memory, "B", &[]).await, person(&memory, "C", &[]).await];
    merge(&memory, &a, &b).await.unwrap();
    merge(&memory, &b, &c).await.unwrap();
    let again = json!({ "canonical_name": "A", "entity_type": "person" });
    let (code, message) = refused(&memory, "entity_create", again).await;
    assert_eq!(code, "conflict");
    assert!(message.contains(&format!("{a}, which was merged into {c}")), "{message}");
}

#[tokio::test]
async fn renaming_to_a_name_that_exists_names_the_existing_id() {
    let memory = MemoryFixture::new().await;
    let [a, b] = [person(&memory, "A", &[]).await, person(&memory, "B", &[]).await];
    let (code, message) = refused(&memory, "entity_update", json!({ "entity_id": b, "canonical_name": "A" })).await;
    assert_eq!(code, "conflict");
    assert!(message.contains(&a), "{message}");
    // Renaming an entity to its own name is allowed.
    memory.call("entity_update", json!({ "entity_id": b, "canonical_name": "B" })).await.unwrap();
}

#[tokio::test]
async fn a_tombstone_accepts_neither_facts_nor_changes_and_names_the_survivor() {
    let memory = MemoryFixture::new().await;
    let [a, b, c] = [person(&memory, "A", &[]).await, person(&memory, "B", &[]).await, person(&memory, "C", &[]).await];
    merge(&memory, &a, &b).await.unwrap();
    merge(&memory, &b, &c).await.unwrap();
    let on_tombstone = json!({ "subject": "s", "predicate": "p", "content": "c", "entity_id": a });
    let (code, message) = refused(&memory, "memory_store_fact", on_tombstone).await;
    assert_eq!(code, "invalid_argument");
    assert!(message.contains(&c) && message.contains("merged"), "{message}");
    let (code, message) = refused(&memory, "entity_update", json!({ "entity_id": a, "aliases": ["x"] })).await;
    assert_eq!(code, "invalid_state");
    assert!(message.contains(&c), "{message}");
    fact(&memory, &c, "p", "on the survivor").await;
    let tombstone = get(&memory, &a).await;
    assert_eq!((&tombstone["merged_into"], &tombstone["merged_into_name"]), (&json!(c), &json!("C")));
    assert_eq!(tombstone["metadata"]["merged_into"], json!(b), "the step itself");
}

#[tokio::test]
async fn unknown_ids_are_not_found() {
    let memory = MemoryFixture::new().await;
    let unknown = "0190b3c4-7a5e-7f00-8000-000000000000";
    for (tool, arguments) in [
        ("entity_get", json!({ "entity_id": unknown })),
        ("entity_update", json!({ "entity_id": unknown, "aliases": [] })),
    ] {
        assert_eq!(refused(&memory, tool, arguments).await.0, "not_found");
    }
}
