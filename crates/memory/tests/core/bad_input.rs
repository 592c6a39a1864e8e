//! Bad input causes an error that says what is wrong, and writes nothing.

use butler_domain::limits;
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{entity, episode, everything, fact, refused, rule};

const NOWHERE: &str = "0190b3c4-7a5e-7f00-8000-000000000000";

fn with(mut base: Value, key: &str, value: Value) -> Value {
    base[key] = value;
    base
}

/// Tool, arguments, error code, and text that the message must contain.
type Case = (&'static str, Value, &'static str, &'static str);

fn store_cases(other_entity: &Value) -> Vec<Case> {
    let fact = || json!({"subject": "user", "predicate": "car", "content": "Volvo"});
    let rule = || json!({"content": "Ask first"});
    let episode = || json!({"content": "It rained", "butler": "general"});
    let (f, r, e, bad) = ("memory_store_fact", "memory_store_rule", "memory_store_episode", "invalid_argument");
    let mut cases = vec![
        (f, with(fact(), "permanence", json!("forever")), bad, "permanent, stable, standard, volatile, ephemeral"),
        (r, with(rule(), "permanence", json!("forever")), bad, "permanent, stable, standard, volatile, ephemeral"),
        (f, with(fact(), "entity_id", json!(NOWHERE)), bad, "does not exist"),
        (f, with(fact(), "entity_id", other_entity.clone()), bad, "does not exist"),
        (f, with(fact(), "entity_id", json!("anna")), bad, "is not a UUID"),
        (f, with(fact(), "source_episode_id", json!(NOWHERE)), bad, "does not exist"),
        (f, with(fact(), "source_episode_id", json!("e1")), bad, "is not a UUID"),
        (e, with(episode(), "session_id", json!("s1")), bad, "is not a UUID"),
        (f, with(fact(), "scope", json!(" ")), bad, "scope must not be empty"),
        (f, with(fact(), "scope", json!(7)), bad, "must be a string"),
        (f, with(fact(), "subject", json!("x".repeat(limits::SUBJECT_BYTES + 1))), bad, "at most"),
        (f, with(fact(), "predicate", json!("x".repeat(limits::PREDICATE_BYTES + 1))), bad, "at most"),
        (f, with(fact(), "predicat", json!("x")), bad, "is not an argument of this tool"),
        (f, with(fact(), "metadata", json!({"status": "fading"})), bad, "is reserved for the state of the memory"),
        (
            f,
            with(fact(), "metadata", json!({"unlinked_object": "Bob"})),
            bad,
            "is reserved for the state of the memory",
        ),
        (r, with(rule(), "metadata", json!({"forgotten": true})), bad, "is reserved for the state of the memory"),
        (f, json!({"subject": "user", "content": "Volvo"}), bad, "predicate: is required"),
        (e, json!({"content": "It rained"}), bad, "butler: is required"),
        (f, with(fact(), "idempotency_key", json!("k".repeat(257))), bad, "at most"),
        (f, with(fact(), "request_context", json!("x")), bad, "must be an object"),
    ];
    for key in ["subject", "predicate", "content"] {
        for empty in [json!(""), json!(" \n\0")] {
            cases.push((f, with(fact(), key, empty), bad, "must not be empty"));
        }
        cases.push((f, with(fact(), key, json!(5)), bad, "must be a string"));
    }
    for importance in [json!(-0.1), json!(10.1), json!("high"), json!(true), json!(1e300)] {
        cases.push((f, with(fact(), "importance", importance.clone()), bad, "importance"));
        cases.push((e, with(episode(), "importance", importance), bad, "importance"));
    }
    for (tool, base) in [(f, fact()), (r, rule()), (e, episode())] {
        cases.push((
            tool,
            with(base.clone(), "content", json!("x".repeat(limits::CONTENT_BYTES + 1))),
            bad,
            "1048577 bytes",
        ));
        for metadata in [json!([1]), json!("x"), json!(3), json!({"a": "x".repeat(limits::METADATA_BYTES)})] {
            cases.push((tool, with(base.clone(), "metadata", metadata), bad, "metadata"));
        }
    }
    for (tool, base) in [(f, fact()), (r, rule())] {
        for tags in [json!(vec!["t"; 65]), json!(["a", 5]), json!({"a": 1}), json!([""])] {
            cases.push((tool, with(base.clone(), "tags", tags), bad, "tags"));
        }
    }
    cases
}

fn by_id_cases(episode: &Value, superseded: &Value, rule: &Value) -> Vec<Case> {
    let bad = "invalid_argument";
    let mut cases = vec![
        ("memory_confirm", json!({"memory_type": "episode", "memory_id": episode}), bad, "cannot be confirmed"),
        ("memory_confirm", json!({"memory_type": "fact", "memory_id": superseded}), "invalid_state", "superseded"),
        ("memory_confirm", json!({"memory_type": "fact"}), bad, "memory_id: is required"),
        ("memory_mark_harmful", json!({"rule_id": rule, "reason": 5}), bad, "must be a string"),
        (
            "memory_mark_harmful",
            json!({"rule_id": rule, "reason": "x".repeat(limits::REASON_BYTES + 1)}),
            bad,
            "at most",
        ),
        ("memory_mark_helpful", json!({"rule_id": superseded}), "not_found", "there is no rule"),
        ("memory_mark_helpful", json!({"rule_id": "r1"}), bad, "is not a UUID"),
        ("memory_mark_harmful", json!({"rule_id": NOWHERE}), "not_found", "there is no rule"),
        ("memory_mark_harmful", json!({}), bad, "rule_id: is required"),
    ];
    for tool in ["memory_get", "memory_confirm", "memory_forget"] {
        cases.push((tool, json!({"memory_type": "entity", "memory_id": rule}), bad, "episode, fact, rule"));
        cases.push((tool, json!({"memory_type": "fact", "memory_id": "42"}), bad, "is not a UUID"));
        cases.push((tool, json!({"memory_type": "fact", "memory_id": NOWHERE}), "not_found", NOWHERE));
        cases.push((tool, json!({"memory_type": "fact", "memory_id": rule}), "not_found", "there is no fact"));
        cases.push((tool, json!({"type": "rule", "id": 7}), bad, "must be a string"));
    }
    cases
}

#[tokio::test]
async fn bad_input_is_rejected_with_the_reason_and_nothing_is_written() {
    let memory = MemoryFixture::new().await;
    let other = entity(&memory, "other", "Anna").await;
    let (old, _) = (fact(&memory, "user", "car", "Volvo").await, fact(&memory, "user", "car", "Saab").await);
    let (episode, rule) = (episode(&memory, "It rained").await, rule(&memory, "Ask first").await);
    let before = everything(&memory).await;
    for (tool, arguments, code, words) in store_cases(&other).into_iter().chain(by_id_cases(&episode, &old, &rule)) {
        let shown: String = arguments.to_string().chars().take(200).collect();
        let error = refused(&memory, tool, arguments).await;
        assert_eq!(error.code.as_str(), code, "{tool} {shown}: {}", error.message);
        assert!(error.message.contains(words), "{tool} {shown}: {:?} lacks {words:?}", error.message);
        let hint = error.hint.unwrap_or_else(|| panic!("{tool} {shown}: no hint"));
        assert!(hint.len() > 8 && !hint.contains("correct it and call again"), "{tool} {shown}: {hint}");
    }
    assert_eq!(everything(&memory).await, before);
}

/// JSON has no NaN, but a caller of the library can pass it.
#[tokio::test]
async fn nobody_stores_an_importance_that_is_not_a_number() {
    let memory = MemoryFixture::new().await;
    let input = butler_memory::RuleInput {
        content: "x".to_owned(),
        scope: butler_domain::Scope::default(),
        permanence: None,
        tags: vec![],
        source_episode_id: None,
        source_butler: None,
        override_tombstone: false,
        metadata: serde_json::Map::new(),
    };
    memory.memory.store_rule(&memory.as_test(), input).await.unwrap();
    let input = butler_memory::FactInput {
        subject: "s".to_owned(),
        predicate: "p".to_owned(),
        content: "c".to_owned(),
        importance: Some(f64::NAN),
        permanence: None,
        scope: butler_domain::Scope::default(),
        tags: None,
        entity_id: None,
        object_entity_id: None,
        object: None,
        source_episode_id: None,
        source_butler: None,
        dates: Default::default(),
        override_tombstone: false,
        metadata: serde_json::Map::new(),
    };
    let before = everything(&memory).await;
    assert!(memory.memory.store_fact(&memory.as_test(), input).await.is_err());
    assert_eq!(everything(&memory).await, before);
}
