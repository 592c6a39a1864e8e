//! memory_stats: the counts, and what a scope means.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use butler_testkit::MemoryFixture;
use serde_json::{Value, json};

/// Now is 2030-01-15 12:00.
const STATES: &str = "
    INSERT INTO episodes (butler, content, consolidation_status, consolidated, created_at, expires_at) VALUES
        ('health', 'p', 'pending', false, '2030-01-15 06:00Z', '2030-01-22Z'),
        ('health', 'p', 'pending', false, '2030-01-15 09:00Z', '2030-01-16Z'),
        ('health', 'c', 'consolidated', true, '2030-01-01Z', '2030-01-08Z'),
        ('home', 'f', 'failed', false, '2030-01-01Z', '2030-01-16Z'),
        ('home', 'd', 'dead_letter', false, '2030-01-01Z', '2030-01-08Z');
    INSERT INTO facts (subject, predicate, content, validity, scope, metadata) VALUES
        ('a', '1', 'c', 'active', 'global', '{}'), ('a', '2', 'c', 'active', 'health', '{}'),
        ('a', '3', 'c', 'active', 'home', '{}'), ('a', '4', 'c', 'active', 'health', '{\"status\": \"fading\"}'),
        ('a', '5', 'c', 'superseded', 'global', '{\"status\": \"fading\"}'), ('a', '6', 'c', 'expired', 'global', '{}'),
        ('a', '7', 'c', 'retracted', 'home', '{}');
    INSERT INTO rules (content, maturity, scope, metadata) VALUES
        ('r', 'candidate', 'global', '{}'), ('r', 'candidate', 'health', '{\"status\": \"fading\"}'),
        ('r', 'established', 'home', '{}'), ('r', 'proven', 'global', '{}'), ('r', 'anti_pattern', 'global', '{}'),
        ('r', 'proven', 'home', '{\"forgotten\": true}');
    INSERT INTO facts (tenant_id, subject, predicate, content) VALUES ('bob', 'a', '1', 'c');";

async fn stats(arguments: Value) -> Value {
    let fixture = MemoryFixture::new().await;
    fixture.db.execute(STATES).await;
    fixture.call("memory_stats", arguments).await.unwrap()
}

#[tokio::test]
async fn episode_fact_and_rule_stats() {
    assert_eq!(
        stats(json!({})).await,
        json!({
            "episodes": {"total": 5, "unconsolidated": 2, "consolidated": 1, "failed": 1, "dead_letter": 1, "expired": 2,
                         "expiring_unconsolidated_24h": 2, "backlog_age_hours": 6.0},
            "facts": {"total": 7, "active": 3, "fading": 1, "superseded": 1, "expired": 1, "retracted": 1},
            "rules": {"total": 6, "candidate": 2, "established": 1, "proven": 1, "anti_pattern": 1, "forgotten": 1, "fading": 1},
        })
    );
}

#[tokio::test]
async fn scope_filtering_on_stats() {
    assert_eq!(
        stats(json!({"scope": "health"})).await,
        json!({
            "episodes": {"total": 3, "unconsolidated": 2, "consolidated": 1, "failed": 0, "dead_letter": 0, "expired": 1,
                         "expiring_unconsolidated_24h": 1, "backlog_age_hours": 6.0},
            "facts": {"total": 5, "active": 2, "fading": 1, "superseded": 1, "expired": 1, "retracted": 0},
            "rules": {"total": 4, "candidate": 2, "established": 0, "proven": 1, "anti_pattern": 1, "forgotten": 0, "fading": 1},
        })
    );
}

#[tokio::test]
async fn an_empty_memory_counts_nothing_and_has_no_backlog() {
    let fixture = MemoryFixture::new().await;
    let stats = fixture.call("memory_stats", json!({"scope": "nobody"})).await.unwrap();
    assert_eq!((&stats["episodes"]["total"], &stats["episodes"]["backlog_age_hours"]), (&json!(0), &Value::Null));
    let error = fixture.call("memory_stats", json!({"scope": ""})).await.unwrap_err();
    assert_eq!(error.code.as_str(), "invalid_argument");
}
