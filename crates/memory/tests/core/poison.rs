//! Bad data of one tenant do not stop the jobs of the others.

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_memory::Call;
use butler_memory::jobs::{DECAY_SWEEP, INVERSION, JobRequest};
use butler_testkit::MemoryFixture;
use serde_json::json;

/// Every change of a row of the tenant `bad` fails, as it does on a row that breaks a function.
async fn poisoned() -> MemoryFixture {
    let fixture = MemoryFixture::new().await;
    for tenant in ["bad", "default", "good"] {
        let context = json!({"tenant_id": tenant});
        let fact = json!({"subject": "Ann", "predicate": "likes", "content": "tea", "request_context": context});
        fixture.call("memory_store_fact", fact).await.unwrap();
        let episode = json!({"content": "one", "butler": "general", "request_context": context});
        fixture.call("memory_store_episode", episode).await.unwrap();
    }
    fixture
        .db
        .execute(
            "UPDATE episodes SET consolidated = true, consolidation_status = 'consolidated';
             CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'poison'; END $$;
             CREATE TRIGGER poison BEFORE UPDATE ON facts FOR EACH ROW WHEN (OLD.tenant_id = 'bad') EXECUTE FUNCTION poison();
             CREATE TRIGGER poison BEFORE DELETE ON episodes FOR EACH ROW WHEN (OLD.tenant_id = 'bad') EXECUTE FUNCTION poison()",
        )
        .await;
    fixture
}

async fn rows(fixture: &MemoryFixture, statement: &'static str) -> Vec<String> {
    sqlx::query_scalar(statement).fetch_all(&mut fixture.db.connect().await).await.unwrap()
}

#[tokio::test]
async fn a_sweep_that_fails_for_one_tenant_works_for_the_others_and_names_it() {
    let fixture = poisoned().await;
    fixture.clock.advance_days(600.0);
    let report = fixture.memory.sweep(None).await.unwrap();
    assert_eq!(report.facts_expired, 2);
    assert!(report.errors.len() == 1 && report.errors[0].starts_with("bad: "), "{:?}", report.errors);
    assert_eq!(rows(&fixture, "SELECT tenant_id FROM facts WHERE validity = 'active'").await, ["bad"]);
    let only = TenantId::new("bad").unwrap();
    assert!(fixture.memory.sweep(Some(&only)).await.is_err(), "alone, the tenant's own run fails");
}

#[tokio::test]
async fn a_cleanup_that_fails_for_one_tenant_works_for_the_others_and_names_it() {
    let fixture = poisoned().await;
    fixture.clock.advance_days(8.0);
    let report = fixture.memory.run_episode_cleanup(None, 10_000, &Origin::default()).await.unwrap();
    assert_eq!(report.expired_deleted, 2);
    assert!(report.errors.len() == 1 && report.errors[0].starts_with("bad: "), "{:?}", report.errors);
    assert_eq!(rows(&fixture, "SELECT tenant_id FROM episodes").await, ["bad"]);
}

#[tokio::test]
async fn embedding_again_that_fails_for_one_tenant_works_for_the_others_and_names_it() {
    let fixture = poisoned().await;
    fixture
        .db
        .execute("ALTER TABLE facts DISABLE TRIGGER poison; UPDATE facts SET embedding_version_id = NULL; ALTER TABLE facts ENABLE TRIGGER poison")
        .await;
    let report = fixture.memory.reembed(None, &|_| ()).await.unwrap();
    assert_eq!(report.facts, 2);
    assert!(report.errors.len() == 1 && report.errors[0].starts_with("bad: "), "{:?}", report.errors);
}

/// Each tenant has a rule that is to be inverted, which fails for the tenant `bad`.
async fn with_poisoned_rules() -> MemoryFixture {
    let fixture = MemoryFixture::new().await;
    for tenant in ["bad", "default", "good"] {
        let rule = json!({"content": "guess", "request_context": {"tenant_id": tenant}});
        fixture.call("memory_store_rule", rule).await.unwrap();
    }
    fixture
        .db
        .execute(
            "UPDATE rules SET metadata = jsonb_build_object('needs_inversion', true);
             CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'poison'; END $$;
             CREATE TRIGGER poison BEFORE UPDATE ON rules FOR EACH ROW WHEN (OLD.tenant_id = 'bad') EXECUTE FUNCTION poison()",
        )
        .await;
    fixture
}

#[tokio::test]
async fn an_inversion_that_fails_for_one_tenant_works_for_the_others_and_names_it() {
    for job in [DECAY_SWEEP, INVERSION] {
        let fixture = with_poisoned_rules().await;
        let report = fixture.memory.run_job(job, &JobRequest::default()).await.unwrap();
        assert_eq!(report["rules_inverted"], 2, "{job}: {report}");
        let errors = report["errors"].as_array().unwrap();
        assert!(errors.len() == 1 && errors[0].as_str().unwrap().starts_with("bad: "), "{job}: {report}");
        let inverted = "SELECT tenant_id FROM rules WHERE maturity = 'anti_pattern' ORDER BY tenant_id";
        assert_eq!(rows(&fixture, inverted).await, ["default", "good"], "{job}");
        let only = JobRequest { tenant: Some(TenantId::new("bad").unwrap()), ..JobRequest::default() };
        assert!(fixture.memory.run_job(job, &only).await.is_err(), "alone, the tenant's own run fails");
    }
}

#[tokio::test]
async fn a_time_that_the_program_cannot_read_is_refused_by_the_database() {
    let fixture = MemoryFixture::new().await;
    for bad in
        ["infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "10000-01-01 00:00:00+00", "294276-12-31 00:00:00+00"]
    {
        for (table, columns, values) in [
            ("episodes", "butler, content, created_at", "'general', 'x'"),
            ("episodes", "butler, content, expires_at", "'general', 'x'"),
            ("facts", "subject, predicate, content, last_confirmed_at", "'s', 'p', 'x'"),
            ("rules", "content, last_applied_at", "'x'"),
            ("entities", "canonical_name, entity_type, updated_at", "'x', 'person'"),
        ] {
            let insert = format!("INSERT INTO {table} ({columns}) VALUES ({values}, '{bad}')");
            let refused = sqlx::raw_sql(sqlx::AssertSqlSafe(insert)).execute(&mut fixture.db.connect().await).await;
            let message = refused.expect_err(bad).to_string();
            assert!(message.contains(&format!("{table}_times_plausible")), "{table} {bad}: {message}");
        }
    }
    let call = Call::internal(&fixture.memory, TenantId::default(), "test");
    assert_eq!(fixture.memory.stats(&call, None).await.unwrap().facts.total, 0);
}
