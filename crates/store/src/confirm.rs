//! Confirming a memory restarts its decay.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{FactId, RuleId, TenantId, Timestamp};

use crate::{Session, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmOutcome {
    Confirmed {
        confidence: f64,
        /// It was about to be forgotten, and no longer is.
        was_fading: bool,
    },
    /// Superseded, expired, retracted or forgotten memories stay what they are; nothing was written.
    NotActive { state: String },
}

/// `None`: this tenant has no such fact.
pub async fn fact(
    session: &mut Session,
    tenant: &TenantId,
    id: FactId,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<ConfirmOutcome>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, validity, confidence, last_confirmed_at, memory_is_fading(metadata) AS fading
                    FROM facts WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), fact AS (
                    UPDATE facts SET last_confirmed_at = $3,
                                     metadata = fading_unmarked(metadata)
                    FROM before WHERE facts.tenant_id = $1 AND facts.id = before.id AND fact_is_active(before.validity)
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, $6, 'fact', id, $7,
                           jsonb_build_object('before', jsonb_build_object('last_confirmed_at', last_confirmed_at, 'fading', fading),
                                              'after', jsonb_build_object('last_confirmed_at', $3::timestamptz, 'fading', false)), $3
                    FROM before WHERE fact_is_active(validity)
                )
                SELECT validity, confidence, fading AS "fading!", fact_is_active(validity) AS "active!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                new_id(now),
                EventType::FactConfirmed.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| {
        if row.active {
            ConfirmOutcome::Confirmed { confidence: row.confidence, was_fading: row.fading }
        } else {
            ConfirmOutcome::NotActive { state: row.validity }
        }
    }))
}

/// `None`: this tenant has no such rule.
pub async fn rule(
    session: &mut Session,
    tenant: &TenantId,
    id: RuleId,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<ConfirmOutcome>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, confidence, last_confirmed_at, memory_is_fading(metadata) AS fading,
                           rule_is_remembered(metadata) AS remembered
                    FROM rules WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), rule AS (
                    UPDATE rules SET last_confirmed_at = $3,
                                     metadata = fading_unmarked(metadata)
                    FROM before WHERE rules.tenant_id = $1 AND rules.id = before.id AND before.remembered
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, $6, 'rule', id, $7,
                           jsonb_build_object('before', jsonb_build_object('last_confirmed_at', last_confirmed_at, 'fading', fading),
                                              'after', jsonb_build_object('last_confirmed_at', $3::timestamptz, 'fading', false)), $3
                    FROM before WHERE remembered
                )
                SELECT confidence, fading AS "fading!", remembered AS "remembered!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                new_id(now),
                EventType::RuleConfirmed.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| {
        if row.remembered {
            ConfirmOutcome::Confirmed { confidence: row.confidence, was_fading: row.fading }
        } else {
            ConfirmOutcome::NotActive { state: "forgotten".to_owned() }
        }
    }))
}
