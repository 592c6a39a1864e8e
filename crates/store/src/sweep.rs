//! The decay sweep: what lost its confidence fades, then goes; what was confirmed comes back. Set by set, never row by row.

use butler_domain::decay::DecayThresholds;
use butler_domain::event::{EventType, Origin};
use butler_domain::{TenantId, Timestamp};
use uuid::Uuid;

use crate::{Session, StoreError};

/// Rows looked at in one statement: their locks are held for some tens of milliseconds, so no writer waits longer.
pub const BATCH_ROWS: i64 = 5_000;

/// What one batch did, and where the next begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Facts expired, or rules forgotten.
    pub ended: u64,
    pub fading: u64,
    pub recovered: u64,
    /// `None`: this was the last batch.
    pub next: Option<Uuid>,
}

#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// `None`: all tenants, on an owner's session.
    pub tenant: Option<&'a TenantId>,
    /// Ids up to and including this one are done.
    pub after: Option<Uuid>,
    pub rows: i64,
}

/// One batch of facts: each transition and its event in one statement. Rows another writer holds are left for the next
/// sweep, because that writer is just deciding about them.
pub async fn facts(
    session: &mut Session,
    batch: Batch<'_>,
    thresholds: DecayThresholds,
    now: Timestamp,
    origin: &Origin,
) -> Result<Swept, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH bounds AS MATERIALIZED (
                    SELECT (SELECT id FROM facts WHERE id > $2 ORDER BY id OFFSET $3::bigint - 1 LIMIT 1) AS last
                ), due AS MATERIALIZED (
                    SELECT id, tenant_id, memory_is_fading(metadata) AS fading,
                           effective_confidence(confidence, decay_rate, last_confirmed_at, $4) AS effective
                    FROM facts
                    WHERE id > $2 AND id <= coalesce((SELECT last FROM bounds), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                      AND fact_is_active(validity) AND decay_rate > 0 AND ($1::text IS NULL OR tenant_id = $1)
                      AND CASE WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $4) < $6 THEN true
                               ELSE (effective_confidence(confidence, decay_rate, last_confirmed_at, $4) < $5)
                                    <> memory_is_fading(metadata) END
                    FOR NO KEY UPDATE SKIP LOCKED
                ), fact AS (
                    UPDATE facts
                    SET validity = CASE WHEN effective < $6 THEN 'expired' ELSE validity END,
                        metadata = CASE WHEN effective < $5 AND effective >= $6 THEN fading_marked(metadata)
                                        ELSE fading_unmarked(metadata) END
                    FROM due WHERE facts.tenant_id = due.tenant_id AND facts.id = due.id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT tenant_id, CASE WHEN effective < $6 THEN $7 WHEN effective < $5 THEN $8 ELSE $9 END,
                           $10, 'fact', id, $11,
                           jsonb_build_object(
                               'before', jsonb_build_object('validity', 'active', 'fading', fading),
                               'after', jsonb_build_object('validity', CASE WHEN effective < $6 THEN 'expired' ELSE 'active' END,
                                                           'fading', effective < $5 AND effective >= $6),
                               'effective_confidence', effective), $4
                    FROM due
                )
                SELECT (SELECT last FROM bounds) AS next,
                       count(*) FILTER (WHERE effective < $6) AS "ended!",
                       count(*) FILTER (WHERE effective >= $6 AND effective < $5) AS "fading!",
                       count(*) FILTER (WHERE effective >= $5) AS "recovered!"
                FROM due
                "#,
                batch.tenant.map(TenantId::as_str),
                batch.after.unwrap_or_default(),
                batch.rows,
                now,
                thresholds.retrieval,
                thresholds.expiry,
                EventType::FactExpired.as_str(),
                EventType::FactFading.as_str(),
                EventType::FactRecovered.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Swept {
        ended: row.ended.unsigned_abs(),
        fading: row.fading.unsigned_abs(),
        recovered: row.recovered.unsigned_abs(),
        next: row.next,
    })
}

/// The same for rules. Warnings are kept, forgotten ones are done with, permanent ones do not decay.
pub async fn rules(
    session: &mut Session,
    batch: Batch<'_>,
    thresholds: DecayThresholds,
    now: Timestamp,
    origin: &Origin,
) -> Result<Swept, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH bounds AS MATERIALIZED (
                    SELECT (SELECT id FROM rules WHERE id > $2 ORDER BY id OFFSET $3::bigint - 1 LIMIT 1) AS last
                ), due AS MATERIALIZED (
                    SELECT id, tenant_id, memory_is_fading(metadata) AS fading,
                           effective_confidence(confidence, decay_rate, last_confirmed_at, $4) AS effective
                    FROM rules
                    WHERE id > $2 AND id <= coalesce((SELECT last FROM bounds), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                      AND maturity <> 'anti_pattern' AND rule_is_remembered(metadata) AND decay_rate > 0
                      AND ($1::text IS NULL OR tenant_id = $1)
                      AND CASE WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $4) < $6 THEN true
                               ELSE (effective_confidence(confidence, decay_rate, last_confirmed_at, $4) < $5)
                                    <> memory_is_fading(metadata) END
                    FOR NO KEY UPDATE SKIP LOCKED
                ), rule AS (
                    UPDATE rules
                    SET metadata = CASE WHEN effective < $6
                                        THEN (fading_unmarked(metadata) - 'needs_inversion') || '{"forgotten": true}'
                                        WHEN effective < $5 THEN fading_marked(metadata)
                                        ELSE fading_unmarked(metadata) END
                    FROM due WHERE rules.tenant_id = due.tenant_id AND rules.id = due.id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT tenant_id, CASE WHEN effective < $6 THEN $7 WHEN effective < $5 THEN $8 ELSE $9 END,
                           $10, 'rule', id, $11,
                           jsonb_build_object(
                               'before', jsonb_build_object('forgotten', false, 'fading', fading),
                               'after', jsonb_build_object('forgotten', effective < $6,
                                                           'fading', effective < $5 AND effective >= $6),
                               'effective_confidence', effective), $4
                    FROM due
                )
                SELECT (SELECT last FROM bounds) AS next,
                       count(*) FILTER (WHERE effective < $6) AS "ended!",
                       count(*) FILTER (WHERE effective >= $6 AND effective < $5) AS "fading!",
                       count(*) FILTER (WHERE effective >= $5) AS "recovered!"
                FROM due
                "#,
                batch.tenant.map(TenantId::as_str),
                batch.after.unwrap_or_default(),
                batch.rows,
                now,
                thresholds.retrieval,
                thresholds.expiry,
                EventType::RuleForgotten.as_str(),
                EventType::RuleFading.as_str(),
                EventType::RuleRecovered.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Swept {
        ended: row.ended.unsigned_abs(),
        fading: row.fading.unsigned_abs(),
        recovered: row.recovered.unsigned_abs(),
        next: row.next,
    })
}
