//! memory_get for all three types, and tenant isolation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_domain::TenantId;
use butler_memory::{Caller, CallerTenant};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

/// Inserts a memory of each type directly into the database, for the tenant alice.
const ONE_OF_EACH: &str = "
    INSERT INTO episodes (id, tenant_id, butler, content, created_at)
        VALUES ('00000000-0000-0000-0000-00000000000e', 'alice', 'health', 'an episode', '2030-01-01');
    INSERT INTO facts (id, tenant_id, subject, predicate, content, last_confirmed_at, tags, permanence, decay_rate)
        VALUES ('00000000-0000-0000-0000-00000000000f', 'alice', 'user', 'likes', 'tea', '2030-01-05T12:00:00Z', '[\"drink\"]',
                'ephemeral', 0.1);
    INSERT INTO rules (id, tenant_id, content, last_confirmed_at, decay_rate, permanence)
        VALUES ('00000000-0000-0000-0000-00000000000a', 'alice', 'a rule', NULL, 0, 'permanent');";

const EPISODE: &str = "00000000-0000-0000-0000-00000000000e";
const FACT: &str = "00000000-0000-0000-0000-00000000000f";
const RULE: &str = "00000000-0000-0000-0000-00000000000a";

async fn get(fixture: &MemoryFixture, memory_type: &str, id: &str) -> Value {
    let arguments = json!({"memory_type": memory_type, "memory_id": id, "request_context": {"tenant_id": "alice"}});
    fixture.call("memory_get", arguments).await.unwrap()
}

async fn with_one_of_each() -> MemoryFixture {
    let fixture = MemoryFixture::new().await;
    fixture.db.execute(ONE_OF_EACH).await;
    fixture
}

#[tokio::test]
async fn get_memory_with_reference_bump() {
    let fixture = with_one_of_each().await;
    for (memory_type, id) in [("episode", EPISODE), ("fact", FACT), ("rule", RULE)] {
        fixture.clock.set(butler_testkit::START.parse().unwrap());
        let first = get(&fixture, memory_type, id).await;
        assert_eq!((&first["memory_type"], &first["id"]), (&json!(memory_type), &json!(id)), "fields at the top level");
        assert_eq!(first["reference_count"], 1);
        assert_eq!(first["last_referenced_at"], butler_testkit::START);
        fixture.clock.advance_days(1.0);
        let second = get(&fixture, memory_type, id).await;
        assert_eq!(second["reference_count"], 2);
        assert_ne!(second["last_referenced_at"], first["last_referenced_at"]);
        for hidden in ["embedding", "search_vector"] {
            assert!(second.get(hidden).is_none(), "{memory_type}.{hidden} never leaves the database");
        }
    }
}

#[tokio::test]
async fn an_episode_has_the_field_names_of_both_specifications() {
    let fixture = with_one_of_each().await;
    fixture
        .db
        .execute("UPDATE episodes SET consolidation_status = 'failed', retry_count = 2, last_error = 'no JSON'")
        .await;
    let episode = get(&fixture, "episode", EPISODE).await;
    assert_eq!((&episode["retry_count"], &episode["consolidation_attempts"]), (&json!(2), &json!(2)));
    assert_eq!((&episode["last_error"], &episode["last_consolidation_error"]), (&json!("no JSON"), &json!("no JSON")));
}

#[tokio::test]
async fn facts_and_rules_come_with_the_confidence_left_after_decay() {
    let fixture = with_one_of_each().await;
    let fact = get(&fixture, "fact", FACT).await;
    let effective = fact["effective_confidence"].as_f64().unwrap();
    assert!((effective - (-0.1_f64 * 10.0).exp()).abs() < 1e-12, "ten days at 0.1: {effective}");
    assert_eq!(
        (&fact["tags"], &fact["validity"], &fact["permanence"]),
        (&json!(["drink"]), &json!("active"), &json!("ephemeral"))
    );
    let rule = get(&fixture, "rule", RULE).await;
    assert_eq!(rule["effective_confidence"], 0.5, "permanent never decays, though it was never confirmed");
}

#[tokio::test]
async fn type_and_id_are_accepted_as_aliases() {
    let fixture = with_one_of_each().await;
    let arguments = json!({"type": "fact", "id": FACT, "tenant_id": "alice"});
    assert_eq!(fixture.call("memory_get", arguments).await.unwrap()["content"], "tea");
}

#[tokio::test]
async fn a_missing_memory_and_one_of_another_tenant_are_not_found() {
    let fixture = with_one_of_each().await;
    let nowhere = "00000000-0000-0000-0000-000000000001";
    for (memory_type, id) in [("episode", EPISODE), ("fact", FACT), ("rule", RULE), ("fact", nowhere), ("fact", RULE)] {
        let arguments = json!({"memory_type": memory_type, "memory_id": id, "request_context": {"request_id": 7}});
        let error = fixture.call("memory_get", arguments).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.request_id.as_deref()), ("not_found", Some("7")));
        assert!(error.message.contains(id) && error.hint.is_some(), "{error:?}");
    }
    assert_eq!(get(&fixture, "fact", FACT).await["reference_count"], 1, "a failed read does not count as a reference");
}

#[tokio::test]
async fn a_token_fixes_the_tenant() {
    let fixture = with_one_of_each().await;
    let alice = Caller {
        tenant: CallerTenant::Token(TenantId::new("alice").unwrap()),
        actor: Some("cli".to_owned()),
        ..Caller::trusted()
    };
    let found = fixture.call_as(&alice, "memory_get", json!({"memory_type": "fact", "memory_id": FACT})).await;
    assert_eq!(found.unwrap().structured["content"], "tea");
    let other = json!({"memory_type": "fact", "memory_id": FACT, "request_context": {"tenant_id": "bob"}});
    let error = fixture.call_as(&alice, "memory_get", other).await.err().unwrap();
    assert_eq!(error.code.as_str(), "invalid_argument");
    assert!(error.message.contains("bob") && error.hint.is_some(), "{error:?}");
    let two =
        json!({"memory_type": "fact", "memory_id": FACT, "tenant_id": "a", "request_context": {"tenant_id": "b"}});
    assert!(fixture.call("memory_get", two).await.unwrap_err().message.contains("differs"));
}

#[tokio::test]
async fn an_unknown_memory_type_or_malformed_id_is_rejected() {
    let fixture = with_one_of_each().await;
    let error = fixture.call("memory_get", json!({"memory_type": "thing", "memory_id": FACT})).await.unwrap_err();
    assert!(error.code.as_str() == "invalid_argument" && error.message.contains("episode, fact, rule"), "{error:?}");
    let error = fixture.call("memory_get", json!({"memory_type": "fact", "memory_id": "x"})).await.unwrap_err();
    assert!(error.message.contains("is not a UUID"), "{error:?}");
}

#[tokio::test]
async fn getting_a_memory_is_one_round_trip() {
    let fixture = with_one_of_each().await;
    let alice = TenantId::new("alice").unwrap();
    let statements = async || {
        get(&fixture, "fact", FACT).await;
        fixture.db.database().relaxed(&alice).await.unwrap().statements()
    };
    let first = statements().await;
    assert_eq!(statements().await, first + 1);
}
