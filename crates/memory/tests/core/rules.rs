//! Rules: defaults, marks, promotion and demotion, inversion.

use std::time::Duration;

use butler_domain::{Maturity, TenantId};
use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

use crate::{assert_fields, count, events_of, get, refused, row, rows, rule};

async fn helpful(memory: &MemoryFixture, id: &Value) -> Value {
    memory.call("memory_mark_helpful", json!({ "rule_id": id })).await.unwrap()
}

async fn harmful(memory: &MemoryFixture, id: &Value, reason: Option<&str>) -> Value {
    memory.call("memory_mark_harmful", json!({ "rule_id": id, "reason": reason })).await.unwrap()
}

/// Sets a rule's counts directly in the database.
async fn history(memory: &MemoryFixture, id: &Value, applied: i32, success: i32, harmful: i32, maturity: Maturity) {
    let effectiveness = f64::from(success) / f64::from(applied);
    let id = id.as_str().unwrap();
    memory
        .db
        .execute(&format!(
            "UPDATE rules SET applied_count = {applied}, success_count = {success}, harmful_count = {harmful},
                    maturity = '{maturity}', effectiveness_score = {effectiveness} WHERE id = '{id}'"
        ))
        .await;
}

#[tokio::test]
async fn store_rule_as_candidate() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Always confirm before sending messages").await;
    let stored = row(&memory, "rules", &id).await;
    let expected = json!({
        "content": "Always confirm before sending messages", "scope": "global", "maturity": "candidate", "confidence": 0.5,
        "decay_rate": 0.01, "permanence": "standard", "effectiveness_score": 0.0, "applied_count": 0, "success_count": 0,
        "harmful_count": 0, "source_episode_id": null, "source_butler": "general", "last_applied_at": null,
        "last_evaluated_at": null, "reference_count": 0, "last_referenced_at": null, "tags": [], "metadata": {},
        "tenant_id": "default",
    });
    assert_fields(&stored, &expected);
    assert!(stored["last_confirmed_at"].is_string(), "a new rule is retrievable at once");
    assert_eq!(events_of(&memory, &id).await, ["rule_created"]);
    assert_eq!(count(&memory, "rules WHERE vector_dims(embedding) = 384 AND search_vector @@ plainto_tsquery('english', 'confirm messages')").await, 1);
}

#[tokio::test]
async fn an_explicit_permanence_of_a_rule_maps_to_its_rate() {
    let memory = MemoryFixture::new().await;
    let arguments = json!({"content": "Speak softly", "permanence": "stable", "scope": "home", "tags": ["tone"], "metadata": {"a": 1}});
    let id = memory.call("memory_store_rule", arguments).await.unwrap()["id"].clone();
    let stored = row(&memory, "rules", &id).await;
    assert_eq!((&stored["permanence"], &stored["decay_rate"]), (&json!("stable"), &json!(0.002)));
    assert_eq!(
        (&stored["scope"], &stored["tags"], &stored["metadata"]),
        (&json!("home"), &json!(["tone"]), &json!({"a": 1}))
    );
}

#[tokio::test]
async fn mark_helpful_increments_counts_and_recalculates_effectiveness() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    history(&memory, &id, 5, 4, 1, Maturity::Candidate).await;
    let marked = helpful(&memory, &id).await;
    assert_eq!(
        (&marked["success_count"], &marked["applied_count"], &marked["harmful_count"]),
        (&json!(5), &json!(6), &json!(1))
    );
    assert_eq!(marked["effectiveness_score"], json!(5.0 / 6.0));
    assert_eq!(marked["maturity"], "established", "5 successes at 0.83");
    assert!(marked["last_applied_at"].is_string());
    let stored = row(&memory, "rules", &id).await;
    for key in ["success_count", "applied_count", "effectiveness_score", "maturity", "metadata"] {
        assert_eq!(stored[key], marked[key], "the answer equals the stored rule: {key}");
    }
    assert_eq!(events_of(&memory, &id).await, ["rule_created", "rule_marked_helpful", "rule_promoted"]);
}

#[tokio::test]
async fn mark_harmful_increments_counts_with_4x_penalty_formula() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Email at night").await;
    history(&memory, &id, 9, 9, 0, Maturity::Established).await;
    let marked = harmful(&memory, &id, Some("caused incorrect response")).await;
    assert_eq!((&marked["harmful_count"], &marked["applied_count"]), (&json!(1), &json!(10)));
    assert_eq!(marked["effectiveness_score"], json!(9.0 / (9.0 + 4.0 + 0.01)));
    assert_eq!(marked["maturity"], "established", "0.69 is not below 0.6");
    let again = harmful(&memory, &id, Some("woke them\0 up")).await;
    assert_eq!(again["metadata"]["harmful_reasons"], json!(["caused incorrect response", "woke them up"]));
    assert_eq!(again["maturity"], "candidate", "9 of 17.01 is below 0.6");
    let silent = harmful(&memory, &id, None).await;
    assert_eq!(silent["metadata"]["harmful_reasons"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rule_application_recorded() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    let arguments = json!({"rule_id": id, "reason": "nobody answered", "request_context": {"request_id": "r-1"}});
    memory.call("memory_mark_harmful", arguments).await.unwrap();
    memory.clock.advance(Duration::from_secs(1));
    helpful(&memory, &id).await;
    let columns = "rule_id, outcome, reason, actor, request_id, maturity, effectiveness_score";
    let found = rows(&memory, &format!("SELECT {columns} FROM rule_applications ORDER BY applied_at")).await;
    assert_fields(
        &found[0],
        &json!({"rule_id": id, "outcome": "harmful", "reason": "nobody answered", "actor": "general",
        "request_id": "r-1", "maturity": "candidate", "effectiveness_score": 0.0}),
    );
    assert_fields(
        &found[1],
        &json!({"rule_id": id, "outcome": "helpful", "reason": null, "actor": "general",
        "request_id": null, "maturity": "candidate", "effectiveness_score": 0.5}),
    );
}

#[tokio::test]
async fn rule_promotion_from_candidate_to_established() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    for mark in 1..=5 {
        let marked = helpful(&memory, &id).await;
        assert_eq!(marked["maturity"], if mark < 5 { "candidate" } else { "established" }, "after {mark}");
    }
}

#[tokio::test]
async fn rule_promotion_from_established_to_proven() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    history(&memory, &id, 14, 14, 0, Maturity::Established).await;
    memory.clock.advance_days(29.9);
    assert_eq!(helpful(&memory, &id).await["maturity"], "established", "not 30 days old");
    memory.clock.advance_days(0.1);
    assert_eq!(helpful(&memory, &id).await["maturity"], "proven");
}

#[tokio::test]
async fn rule_demotion_from_established_to_candidate() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    history(&memory, &id, 5, 5, 0, Maturity::Established).await;
    let marked = harmful(&memory, &id, None).await;
    assert_eq!(marked["maturity"], "candidate", "{} < 0.6", marked["effectiveness_score"]);
    assert_eq!(events_of(&memory, &id).await, ["rule_created", "rule_marked_harmful", "rule_demoted"]);
}

#[tokio::test]
async fn rule_demotion_from_proven_to_established() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    history(&memory, &id, 15, 15, 0, Maturity::Proven).await;
    assert_eq!(harmful(&memory, &id, None).await["maturity"], "established");
}

#[tokio::test]
async fn anti_pattern_inversion_trigger() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "email at night").await;
    for mark in 1..=3 {
        let marked = harmful(&memory, &id, None).await;
        assert_eq!(marked["metadata"].get("needs_inversion"), (mark == 3).then_some(&json!(true)), "after {mark}");
    }
    let recovered = helpful(&memory, &id).await;
    assert_eq!(recovered["effectiveness_score"], json!(0.25));
    assert_eq!(recovered["metadata"]["needs_inversion"], true, "0.25 is still below 0.3");
    let recovered = helpful(&memory, &id).await;
    assert_eq!(recovered["effectiveness_score"], json!(0.4));
    assert!(recovered["metadata"].get("needs_inversion").is_none(), "recomputed at every mark");
    assert_eq!(memory.memory.invert_pending(None).await.unwrap().rules_inverted, 0);
}

#[tokio::test]
async fn rule_inversion_to_anti_pattern() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "email people at night").await;
    for reason in ["woke them", "ignored", "woke them twice"] {
        harmful(&memory, &id, Some(reason)).await;
    }
    // The mark itself starts the job.
    tokio::time::timeout(Duration::from_secs(60), memory.memory.inversion_requested())
        .await
        .expect("woken by the mark");
    assert_eq!(memory.memory.invert_pending(None).await.unwrap().rules_inverted, 1);
    let stored = row(&memory, "rules", &id).await;
    let content =
        "ANTI-PATTERN: Do NOT email people at night. This caused problems because: woke them; ignored; woke them twice";
    assert_eq!((&stored["content"], &stored["maturity"]), (&json!(content), &json!("anti_pattern")));
    assert_eq!(stored["metadata"]["original_content"], "email people at night");
    assert!(stored["metadata"].get("needs_inversion").is_none());
    assert_eq!(stored["harmful_count"], 3);
    let expected: Vec<f32> = memory.embedder.vector(content).to_vec();
    let vector = rows(&memory, "SELECT embedding::real[] AS v FROM rules").await[0]["v"].clone();
    assert_eq!(serde_json::from_value::<Vec<f32>>(vector).unwrap(), expected, "embedded again");
    assert_eq!(count(&memory, "rules WHERE search_vector @@ plainto_tsquery('english', 'caused problems')").await, 1);
    let event = rows(&memory, "SELECT payload, actor FROM memory_events WHERE event_type = 'rule_inverted'").await;
    assert_eq!(event[0]["payload"]["before"]["content"], "email people at night");
    assert_eq!(event[0]["payload"]["after"]["content"], content);
    assert_eq!(event[0]["actor"], "inversion");
    assert_eq!(memory.memory.invert_pending(None).await.unwrap().rules_inverted, 0, "a second run does nothing");
    let marked = harmful(&memory, &id, Some("still wrong")).await;
    assert_eq!(
        (&marked["maturity"], &marked["content"]),
        (&json!("anti_pattern"), &json!(content)),
        "a warning is only counted"
    );
    assert_eq!(memory.memory.invert_pending(None).await.unwrap().rules_inverted, 0);
}

#[tokio::test]
async fn a_rule_inverted_without_reasons_says_repeated_failures() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "guess").await;
    for _ in 0..3 {
        harmful(&memory, &id, None).await;
    }
    let one = TenantId::new("other").unwrap();
    assert_eq!(
        memory.memory.invert_pending(Some(&one)).await.unwrap().rules_inverted,
        0,
        "another tenant's rules are left alone"
    );
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report.rules_inverted, 1, "the sweep inverts rules that were missed");
    assert_eq!(
        get(&memory, "rule", &id).await["content"],
        "ANTI-PATTERN: Do NOT guess. This caused problems because: repeated failures"
    );
}

#[tokio::test]
async fn a_forgotten_rule_cannot_be_marked() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "guess").await;
    for _ in 0..3 {
        harmful(&memory, &id, None).await;
    }
    memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": id})).await.unwrap();
    let error = refused(&memory, "memory_mark_helpful", json!({"rule_id": id})).await;
    assert_eq!(error.code.as_str(), "invalid_state");
    assert!(error.hint.is_some());
    assert_eq!(memory.memory.invert_pending(None).await.unwrap().rules_inverted, 0, "nor is it inverted");
    assert_eq!(count(&memory, "rule_applications").await, 3);
}

#[tokio::test]
async fn the_list_of_reasons_is_bounded_and_rule_applications_keep_all() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "guess").await;
    let reasons: Vec<String> = (0..butler_domain::limits::HARMFUL_REASONS).map(|n| format!("reason {n}")).collect();
    let metadata = json!({ "harmful_reasons": reasons });
    memory.db.execute(&format!("UPDATE rules SET metadata = '{metadata}'")).await;
    let marked = harmful(&memory, &id, Some("the newest")).await;
    let kept = marked["metadata"]["harmful_reasons"].as_array().unwrap();
    assert_eq!((kept.len(), &kept[0], kept.last().unwrap()), (100, &json!("reason 1"), &json!("the newest")));
}

async fn recalled(memory: &MemoryFixture, topic: &str) -> Vec<Value> {
    let answer = memory.call("memory_recall", json!({ "topic": topic })).await.unwrap();
    answer["results"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect()
}

#[tokio::test]
async fn a_warning_is_recalled_and_in_context_however_old_it_is() {
    let memory = MemoryFixture::new().await;
    let warning = rule(&memory, "Never book flights over Easter").await;
    let guess = rule(&memory, "Book flights over Easter early").await;
    history(&memory, &warning, 4, 0, 4, Maturity::AntiPattern).await;
    memory.clock.advance_days(2000.0);
    assert_eq!(
        recalled(&memory, "book flights over Easter").await,
        std::slice::from_ref(&warning),
        "{guess} has faded"
    );
    let arguments = json!({"trigger_prompt": "book flights over Easter", "butler": "general"});
    let block = memory.call("memory_context", arguments).await.unwrap();
    assert!(block["context"].as_str().unwrap().contains("Never book flights"), "{block}");
}

#[tokio::test]
async fn a_proven_rule_marked_helpful_daily_is_recalled_after_400_days() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking flights").await;
    for _ in 0..400 {
        memory.clock.advance_days(1.0);
        helpful(&memory, &id).await;
    }
    assert_eq!(get(&memory, "rule", &id).await["maturity"], "proven");
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(recalled(&memory, "booking flights").await, std::slice::from_ref(&id));
    let confirmed = row(&memory, "rules", &id).await["last_confirmed_at"].clone();
    memory.clock.advance_days(1.0);
    harmful(&memory, &id, None).await;
    assert_eq!(row(&memory, "rules", &id).await["last_confirmed_at"], confirmed, "only success confirms a rule");
}

#[tokio::test]
async fn a_helpful_mark_ends_fading_as_a_confirmation_does() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    memory.clock.advance_days(120.0);
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(row(&memory, "rules", &id).await["metadata"]["status"], "fading");
    let marked = helpful(&memory, &id).await;
    let stored = row(&memory, "rules", &id).await;
    assert_eq!((&stored["metadata"], &marked["metadata"]), (&json!({}), &json!({})));
    assert_eq!(marked["effective_confidence"], json!(0.5));
}

#[tokio::test]
async fn a_mark_keeps_its_reason_and_context() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask before booking").await;
    let contexts =
        [json!({"task": "booking"}), json!("{\"task\": \"mail\"}"), json!("by phone"), json!(null), json!("")];
    for context in &contexts {
        let arguments = json!({"rule_id": id, "reason": "it went well", "context": context});
        memory.call("memory_mark_helpful", arguments).await.unwrap();
    }
    let arguments = json!({"rule_id": id, "reason": "too slow", "context": {"task": "taxi"}});
    memory.call("memory_mark_harmful", arguments).await.unwrap();
    let kept = rows(&memory, "SELECT outcome, reason, context FROM rule_applications ORDER BY ctid").await;
    let well = |context: Value| json!({"outcome": "helpful", "reason": "it went well", "context": context});
    assert_eq!(
        kept,
        [
            well(json!({"task": "booking"})),
            well(json!({"task": "mail"})),
            well(json!({"text": "by phone"})),
            well(json!({})),
            well(json!({})),
            json!({"outcome": "harmful", "reason": "too slow", "context": {"task": "taxi"}}),
        ]
    );
    let error = refused(&memory, "memory_mark_helpful", json!({"rule_id": id, "context": 5})).await;
    assert!(error.message.contains("context"), "{}", error.message);
}

#[tokio::test]
async fn a_rule_is_linked_to_its_source_episode() {
    let memory = MemoryFixture::new().await;
    let source = crate::episode(&memory, "The flight was lost").await;
    let arguments = json!({"content": "Book early", "source_episode_id": source});
    let id = memory.call("memory_store_rule", arguments).await.unwrap()["id"].clone();
    assert_eq!(row(&memory, "rules", &id).await["source_episode_id"], source);
    let events =
        rows(&memory, "SELECT payload -> 'links' AS links FROM memory_events WHERE event_type = 'rule_created'").await;
    let link = json!({"relation": "derived_from", "target_type": "episode", "target_id": source});
    assert_eq!(events, [json!({ "links": [link] })]);
    let error =
        refused(&memory, "memory_store_rule", json!({"content": "x", "source_episode_id": uuid::Uuid::nil()})).await;
    assert!(error.message.contains("does not exist"), "{}", error.message);
}
