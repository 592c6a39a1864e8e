//! The transitions of the decay sweep: exactly at the thresholds, with one event each.

use butler_memory::{MemoryConfig, SweepReport};
use butler_testkit::MemoryFixture;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::{count, events_of, everything, fact, row, rows, rule, store_fact};

/// The days until a confidence of 1 has decayed to `left`.
fn days(left: f64, rate: f64) -> f64 {
    -left.ln() / rate
}

#[tokio::test]
async fn fact_transitions_to_fading_via_decay_sweep() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "car", "Volvo").await;
    memory.clock.advance_days(days(0.2, 0.008) - 0.01);
    assert_eq!(memory.memory.sweep(None).await.unwrap(), SweepReport::default());
    memory.clock.advance_days(0.02);
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report, SweepReport { facts_fading: 1, ..SweepReport::default() });
    let stored = row(&memory, "facts", &id).await;
    assert_eq!((&stored["validity"], &stored["metadata"]["status"]), (&json!("active"), &json!("fading")));
    let event = rows(&memory, "SELECT actor, payload FROM memory_events WHERE event_type = 'fact_fading'").await;
    assert_eq!(event[0]["actor"], "decay_sweep");
    assert_eq!(event[0]["payload"]["before"], json!({"validity": "active", "fading": false}));
    assert_eq!(event[0]["payload"]["after"], json!({"validity": "active", "fading": true}));
    assert!((event[0]["payload"]["effective_confidence"].as_f64().unwrap() - 0.2).abs() < 0.001);
}

#[tokio::test]
async fn fact_transitions_to_expired_via_decay_sweep() {
    let memory = MemoryFixture::new().await;
    let (id, kept) = (fact(&memory, "user", "car", "Volvo").await, fact(&memory, "user", "bike", "red").await);
    memory.clock.advance_days(days(0.05, 0.008) - 0.01);
    memory.call("memory_confirm", json!({"type": "fact", "id": kept})).await.unwrap();
    assert_eq!(memory.memory.sweep(None).await.unwrap().facts_fading, 1, "0.05 and above fades");
    memory.clock.advance_days(0.02);
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report, SweepReport { facts_expired: 1, ..SweepReport::default() });
    let stored = row(&memory, "facts", &id).await;
    assert_eq!((&stored["validity"], &stored["metadata"]), (&json!("expired"), &json!({})));
    assert_eq!(events_of(&memory, &id).await, ["fact_created", "fact_fading", "fact_expired"]);
    assert_eq!(events_of(&memory, &kept).await, ["fact_created", "fact_confirmed"]);
}

#[tokio::test]
async fn facts_previously_marked_as_fading_that_recover_have_their_status_cleared() {
    let memory = MemoryFixture::new().await;
    let id = store_fact(&memory, json!({"subject": "u", "predicate": "p", "content": "c", "metadata": {"kept": true}}))
        .await["id"]
        .clone();
    memory.clock.advance_days(250.0);
    memory.memory.sweep(None).await.unwrap();
    // Confirmed directly in the database, because the tool would clear the status itself.
    memory.db.execute(&format!("UPDATE facts SET last_confirmed_at = '{}'", memory.memory.now().to_rfc3339())).await;
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report, SweepReport { facts_recovered: 1, ..SweepReport::default() });
    assert_eq!(row(&memory, "facts", &id).await["metadata"], json!({"kept": true}));
    assert_eq!(events_of(&memory, &id).await, ["fact_created", "fact_fading", "fact_recovered"]);
}

#[tokio::test]
async fn decay_sweep_threshold_transitions() {
    // Confirmed now, so that the effective confidence equals the stored one.
    let (fading, ended) = (0.2, 0.05);
    let cases = [
        (f64::next_up(fading), "normal"),
        (fading, "normal"),
        (f64::next_down(fading), "fading"),
        (f64::next_up(ended), "fading"),
        (ended, "fading"),
        (f64::next_down(ended), "ended"),
    ];
    let memory = MemoryFixture::new().await;
    let now = memory.memory.now().to_rfc3339();
    for (n, (confidence, _)) in cases.iter().enumerate() {
        memory
            .db
            .execute(&format!(
                "INSERT INTO facts (subject, predicate, content, confidence, decay_rate, last_confirmed_at)
                 VALUES ('{n}', 'p', 'c', {confidence:?}, 0.008, '{now}');
                 INSERT INTO rules (content, confidence, decay_rate, last_confirmed_at)
                 VALUES ('{n}', {confidence:?}, 0.01, '{now}')"
            ))
            .await;
    }
    let report = memory.memory.sweep(None).await.unwrap();
    let expected =
        SweepReport { facts_fading: 3, facts_expired: 1, rules_fading: 3, rules_forgotten: 1, ..Default::default() };
    assert_eq!(report, expected);
    let state = |ended: bool, row: &Value| match (ended, row["metadata"]["status"] == "fading") {
        (true, _) => "ended",
        (_, true) => "fading",
        _ => "normal",
    };
    let facts = rows(&memory, "SELECT validity, metadata FROM facts ORDER BY subject").await;
    let rules = rows(&memory, "SELECT metadata FROM rules ORDER BY content").await;
    for ((confidence, expected), (fact, rule)) in cases.iter().zip(facts.iter().zip(&rules)) {
        assert_eq!(state(fact["validity"] == "expired", fact), *expected, "a fact of {confidence:?}");
        assert_eq!(state(rule["metadata"]["forgotten"] == true, rule), *expected, "a rule of {confidence:?}");
    }
}

#[tokio::test]
async fn a_dry_run_counts_what_the_sweep_does_and_writes_nothing() {
    let memory = MemoryFixture::new().await;
    let (id, warned) = (fact(&memory, "user", "car", "Volvo").await, rule(&memory, "Ask first").await);
    memory.clock.advance_days(days(0.05, 0.008) + 0.01);
    let before = (row(&memory, "facts", &id).await, row(&memory, "rules", &warned).await);
    let counted = memory.memory.dry_run_sweep(None).await.unwrap();
    assert_eq!((row(&memory, "facts", &id).await, row(&memory, "rules", &warned).await), before);
    assert_eq!(events_of(&memory, &id).await, ["fact_created"]);
    assert_eq!(counted.facts_expired, 1);
    assert_eq!(memory.memory.sweep(None).await.unwrap(), counted);
}

#[tokio::test]
async fn rules_fade_recover_and_are_forgotten() {
    let memory = MemoryFixture::new().await;
    let id = rule(&memory, "Ask first").await;
    memory.clock.advance_days(days(0.4, 0.01) + 0.01);
    assert_eq!(memory.memory.sweep(None).await.unwrap().rules_fading, 1, "0.5 of confidence falls below 0.2");
    assert_eq!(row(&memory, "rules", &id).await["metadata"], json!({"status": "fading"}));
    memory.db.execute(&format!("UPDATE rules SET last_confirmed_at = '{}'", memory.memory.now().to_rfc3339())).await;
    assert_eq!(memory.memory.sweep(None).await.unwrap().rules_recovered, 1);
    assert_eq!(row(&memory, "rules", &id).await["metadata"], json!({}));
    memory.clock.advance_days(days(0.1, 0.01) + 0.01);
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report, SweepReport { rules_forgotten: 1, ..SweepReport::default() });
    assert_eq!(row(&memory, "rules", &id).await["metadata"], json!({"forgotten": true}));
    assert_eq!(events_of(&memory, &id).await, ["rule_created", "rule_fading", "rule_recovered", "rule_forgotten"]);
}

#[tokio::test]
async fn the_sweep_skips_anti_patterns_forgotten_rules_and_permanent_memories() {
    let memory = MemoryFixture::new().await;
    store_fact(&memory, json!({"subject": "u", "predicate": "name", "content": "Eve", "permanence": "permanent"}))
        .await;
    let permanent = json!({"content": "Be kind", "permanence": "permanent"});
    memory.call("memory_store_rule", permanent).await.unwrap();
    let (warning, gone) = (rule(&memory, "guess").await, rule(&memory, "shout").await);
    memory
        .db
        .execute(&format!("UPDATE rules SET maturity = 'anti_pattern' WHERE id = '{}'", warning.as_str().unwrap()))
        .await;
    memory.call("memory_forget", json!({"memory_type": "rule", "memory_id": gone})).await.unwrap();
    memory.clock.advance_days(20_000.0);
    let before = everything(&memory).await;
    assert_eq!(memory.memory.sweep(None).await.unwrap(), SweepReport::default());
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn unconfirmed_memory_returns_zero_confidence_and_expires() {
    let memory = MemoryFixture::new().await;
    let id = fact(&memory, "user", "car", "Volvo").await;
    memory.db.execute("UPDATE facts SET last_confirmed_at = NULL").await;
    assert_eq!(memory.memory.sweep(None).await.unwrap().facts_expired, 1);
    assert_eq!(row(&memory, "facts", &id).await["validity"], "expired");
}

#[tokio::test]
async fn sweeping_twice_changes_nothing_more() {
    let memory = MemoryFixture::new().await;
    for (n, permanence) in ["stable", "standard", "volatile", "ephemeral"].iter().enumerate() {
        store_fact(
            &memory,
            json!({"subject": "u", "predicate": format!("p{n}"), "content": "c", "permanence": permanence}),
        )
        .await;
    }
    rule(&memory, "Ask first").await;
    memory.clock.advance_days(210.0);
    let report = memory.memory.sweep(None).await.unwrap();
    assert_eq!(report, SweepReport { facts_fading: 1, facts_expired: 2, rules_fading: 1, ..SweepReport::default() });
    let before = everything(&memory).await;
    assert_eq!(memory.memory.sweep(None).await.unwrap(), SweepReport::default());
    assert_eq!(everything(&memory).await, before);
}

#[tokio::test]
async fn the_thresholds_are_configurable_and_a_single_tenant_can_be_swept() {
    let mut config = MemoryConfig::default();
    config.confidence.retrieval_threshold = 0.9;
    config.confidence.expiry_threshold = 0.8;
    let memory = MemoryFixture::with_config(config).await;
    for tenant in ["a", "b"] {
        store_fact(
            &memory,
            json!({"subject": "u", "predicate": "p", "content": "c", "request_context": {"tenant_id": tenant}}),
        )
        .await;
    }
    memory.clock.advance_days(20.0);
    let a = butler_domain::TenantId::new("a").unwrap();
    assert_eq!(memory.memory.sweep(Some(&a)).await.unwrap().facts_fading, 1);
    memory.clock.advance_days(10.0);
    assert_eq!(memory.memory.sweep(None).await.unwrap().facts_expired, 2);
    assert_eq!(
        count(&memory, "memory_events WHERE tenant_id = 'a' AND event_type IN ('fact_fading', 'fact_expired')").await,
        2
    );
    assert_eq!(
        count(&memory, "memory_events WHERE tenant_id = 'b' AND event_type IN ('fact_fading', 'fact_expired')").await,
        1
    );
}

#[tokio::test]
async fn every_row_is_swept_in_any_number_of_batches() {
    let memory = MemoryFixture::new().await;
    let now = memory.memory.now().to_rfc3339();
    memory.db.execute(&format!(
        "INSERT INTO facts (subject, predicate, content, last_confirmed_at) SELECT 's' || i, 'p', 'c', '{now}' FROM generate_series(1, 12345) i"
    )).await;
    memory.clock.advance_days(1000.0);
    assert_eq!(memory.memory.sweep(None).await.unwrap().facts_expired, 12_345);
    assert_eq!(count(&memory, "memory_events WHERE event_type = 'fact_expired'").await, 12_345);
}

/// For random rows and days: after a sweep each row is in the state that `butler_domain` computes, and has the event
/// for it.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_sweep_every_row_is_in_the_state_that_the_domain_computes() {
    let memory = MemoryFixture::new().await;
    let start = memory.memory.now();
    let handle = tokio::runtime::Handle::current();
    let case = prop::collection::vec(
        (0.0..=1.0f64, prop::sample::select(vec![0.0, 0.002, 0.008, 0.03, 0.1]), 0..2000i64, any::<bool>()),
        1..40,
    );
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() });
    tokio::task::block_in_place(|| {
        runner
            .run(&case, |rows_| {
                handle.block_on(async {
                    memory.db.execute(&rows_in(&rows_, start)).await;
                    memory.memory.sweep(None).await.unwrap();
                    check(&memory, &rows_, start).await
                })
            })
            .unwrap();
    });
}

#[tokio::test]
async fn a_users_own_status_survives_fading_confirming_editing_and_restoring() {
    let memory = MemoryFixture::new().await;
    let arguments =
        json!({"subject": "order", "predicate": "state", "content": "sent", "metadata": {"status": "open"}});
    let id = store_fact(&memory, arguments).await["id"].clone();
    let arguments = json!({"content": "Ask first.", "metadata": {"status": "draft"}});
    let rule = memory.call("memory_store_rule", arguments).await.unwrap()["id"].clone();
    memory.clock.advance_days(210.0);
    memory.memory.sweep(None).await.unwrap();
    assert_eq!(
        row(&memory, "facts", &id).await["metadata"],
        json!({"status": "fading", "status_before_fading": "open"})
    );
    let fading = row(&memory, "rules", &rule).await["metadata"]["status_before_fading"].clone();
    assert_eq!(fading, "draft");
    for (kind, table, id, own) in [("fact", "facts", &id, "open"), ("rule", "rules", &rule, "draft")] {
        memory.call("memory_confirm", json!({"memory_type": kind, "memory_id": id})).await.unwrap();
        assert_eq!(row(&memory, table, id).await["metadata"], json!({ "status": own }), "confirmed");
        memory.call("memory_forget", json!({"memory_type": kind, "memory_id": id})).await.unwrap();
    }
    let call = memory.as_test();
    let uuid = |id: &Value| id.as_str().unwrap().parse::<uuid::Uuid>().unwrap();
    memory.memory.restore_fact(&call, butler_domain::FactId(uuid(&id))).await.unwrap().unwrap();
    memory.memory.restore_rule(&call, butler_domain::RuleId(uuid(&rule))).await.unwrap().unwrap();
    assert_eq!(row(&memory, "facts", &id).await["metadata"], json!({"status": "open"}), "restored");
    assert_eq!(row(&memory, "rules", &rule).await["metadata"], json!({"status": "draft"}), "restored");
    let changes = butler_memory::FactChanges { content: Some("delivered".to_owned()), ..Default::default() };
    let edited = memory.memory.edit_fact(&call, butler_domain::FactId(uuid(&id)), &changes).await.unwrap().unwrap();
    assert_eq!(row(&memory, "facts", &json!(edited.id)).await["metadata"], json!({"status": "open"}), "edited");
}

/// Statements that replace all facts by these rows.
fn rows_in(cases: &[(f64, f64, i64, bool)], now: butler_domain::Timestamp) -> String {
    let mut statements = "TRUNCATE facts CASCADE;".to_owned();
    for (n, (confidence, rate, hours, fading)) in cases.iter().enumerate() {
        let at = (now - chrono::TimeDelta::hours(*hours)).to_rfc3339();
        let metadata = if *fading { json!({"status": "fading"}) } else { json!({}) };
        statements.push_str(&format!(
            "INSERT INTO facts (subject, predicate, content, confidence, decay_rate, last_confirmed_at, metadata)
             VALUES ('{n}', 'p', 'c', {confidence}::float8, {rate}, '{at}', '{metadata}');"
        ));
    }
    statements
}

async fn check(
    memory: &MemoryFixture,
    cases: &[(f64, f64, i64, bool)],
    now: butler_domain::Timestamp,
) -> Result<(), TestCaseError> {
    use butler_domain::decay::{DecayThresholds, effective_confidence};
    let DecayThresholds { retrieval, expiry } = DecayThresholds::default();
    let stored = rows(memory, "SELECT f.subject, f.validity, f.metadata, (SELECT max(event_type) FROM memory_events e WHERE e.memory_id = f.id) AS event FROM facts f ORDER BY f.subject::int").await;
    for ((confidence, rate, hours, was_fading), row) in cases.iter().zip(stored) {
        let at = now - chrono::TimeDelta::hours(*hours);
        let effective = effective_confidence(*confidence, *rate, Some(at), now);
        let (validity, fading, event) = match effective {
            // The sweep ignores memories that do not decay.
            _ if *rate == 0.0 => ("active", *was_fading, None),
            left if left < expiry => ("expired", false, Some("fact_expired")),
            left if left < retrieval => ("active", true, (!was_fading).then_some("fact_fading")),
            _ => ("active", false, was_fading.then_some("fact_recovered")),
        };
        prop_assert_eq!(&row["validity"], validity);
        prop_assert_eq!(row["metadata"]["status"] == "fading", fading);
        prop_assert_eq!(&row["event"], &event.map_or(Value::Null, Value::from));
    }
    Ok(())
}
