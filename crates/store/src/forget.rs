//! Forgetting: nothing is deleted, but nothing is retrieved any more. Each is one statement.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, FactId, RuleId, TenantId, Timestamp};

use crate::{Session, StoreError};

/// Whether a call changed anything; forgetting twice is no error, and leaves one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetOutcome {
    Forgotten,
    AlreadyForgotten,
}

fn outcome(changed: bool) -> ForgetOutcome {
    if changed { ForgetOutcome::Forgotten } else { ForgetOutcome::AlreadyForgotten }
}

/// Whatever it was, active, superseded or expired: it is retracted now. `None`: this tenant has no such fact.
pub async fn fact(
    session: &mut Session,
    tenant: &TenantId,
    id: FactId,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<ForgetOutcome>, StoreError> {
    let changed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, validity FROM facts WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), fact AS (
                    UPDATE facts SET validity = 'retracted'
                    FROM before WHERE facts.tenant_id = $1 AND facts.id = before.id AND before.validity <> 'retracted'
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, $6, 'fact', id, $7,
                           jsonb_build_object('before', jsonb_build_object('validity', validity),
                                              'after', jsonb_build_object('validity', 'retracted')), $3
                    FROM before WHERE validity <> 'retracted'
                )
                SELECT validity <> 'retracted' AS "changed!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                new_id(now),
                EventType::FactForgotten.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(changed.map(outcome))
}

/// `None`: this tenant has no such rule.
pub async fn rule(
    session: &mut Session,
    tenant: &TenantId,
    id: RuleId,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<ForgetOutcome>, StoreError> {
    let changed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, rule_is_remembered(metadata) AS remembered
                    FROM rules WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), rule AS (
                    UPDATE rules SET metadata = (metadata - 'needs_inversion') || '{"forgotten": true}'
                    FROM before WHERE rules.tenant_id = $1 AND rules.id = before.id AND before.remembered
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, $6, 'rule', id, $7,
                           '{"before": {"forgotten": false}, "after": {"forgotten": true}}', $3
                    FROM before WHERE remembered
                )
                SELECT remembered AS "changed!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                new_id(now),
                EventType::RuleForgotten.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(changed.map(outcome))
}

/// It expires now; cleanup removes it. `None`: this tenant has no such episode.
pub async fn episode(
    session: &mut Session,
    tenant: &TenantId,
    id: EpisodeId,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<ForgetOutcome>, StoreError> {
    let changed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, expires_at, episode_is_alive(expires_at, $3) AS alive
                    FROM episodes WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), episode AS (
                    UPDATE episodes SET expires_at = $3
                    FROM before WHERE episodes.tenant_id = $1 AND episodes.id = before.id AND before.alive
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, $6, 'episode', id, $7,
                           jsonb_build_object('before', jsonb_build_object('expires_at', expires_at),
                                              'after', jsonb_build_object('expires_at', $3::timestamptz)), $3
                    FROM before WHERE alive
                )
                SELECT alive AS "changed!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                new_id(now),
                EventType::EpisodeForgotten.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(changed.map(outcome))
}
