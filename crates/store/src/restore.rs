//! Bringing back what was forgotten, expired or replaced: the undo of a person's change.

use butler_domain::event::{EventType, Origin};
use butler_domain::{FactId, RuleId, TenantId, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::events::{self, NewEvent, Subject};
use crate::{Session, StoreError};

/// All but `Restored` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    Restored {
        /// The newer version that made room for it.
        retracted: Option<FactId>,
    },
    AlreadyActive,
    /// Another fact is active under its key.
    KeyTaken {
        by: FactId,
    },
}

/// One transaction. A replaced fact comes back only in place of the one that replaced it. What is too weak to live
/// (`expiry`) counts as confirmed now, or the next sweep would take it again. `None`: this tenant has no such fact.
pub async fn fact(
    session: &mut Session,
    tenant: &TenantId,
    id: FactId,
    expiry: f64,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<RestoreOutcome>, StoreError> {
    let mut tx = session.begin().await?;
    let Some(locked) = lock(&mut tx, tenant, id).await? else { return Ok(None) };
    if locked.validity == "active" {
        return Ok(Some(RestoreOutcome::AlreadyActive));
    }
    let mut happened = Vec::new();
    let mut retracted = None;
    if let Some(holder) = &locked.holder {
        if locked.validity != "superseded" || !holder.replaced_it {
            return Ok(Some(RestoreOutcome::KeyTaken { by: FactId(holder.id) }));
        }
        set_validity(&mut tx, tenant, holder.id, "retracted").await?;
        let payload = json!({"before": {"validity": "active"}, "after": {"validity": "retracted"}, "restored": id});
        happened.push(event(EventType::FactForgotten, holder.id, payload));
        retracted = Some(FactId(holder.id));
    }
    activate(&mut tx, tenant, id.0, expiry, now).await?;
    let payload = json!({"before": {"validity": locked.validity}, "after": {"validity": "active"}});
    happened.push(event(EventType::FactRestored, id.0, payload));
    events::append(&mut tx, tenant, &happened, now, origin).await?;
    tx.commit().await?;
    Ok(Some(RestoreOutcome::Restored { retracted }))
}

fn event(event_type: EventType, id: Uuid, payload: serde_json::Value) -> NewEvent {
    NewEvent { event_type, about: Some(Subject { memory_type: "fact", memory_id: id }), payload }
}

/// A fact under the lock of its key: until the transaction ends nobody else stores one of that key.
#[derive(Debug)]
pub struct Locked {
    pub validity: String,
    /// The fact that is active under the key now; itself, if it is.
    pub holder: Option<Holder>,
}

#[derive(Debug)]
pub struct Holder {
    pub id: Uuid,
    /// Whether it is what replaced the fact.
    pub replaced_it: bool,
}

/// To be called in a transaction. `None`: this tenant has no such fact.
pub async fn lock(session: &mut Session, tenant: &TenantId, id: FactId) -> Result<Option<Locked>, StoreError> {
    let locked = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT lock_fact_key(tenant_id, entity_id, scope, subject, predicate)::text AS locked
                   FROM facts WHERE tenant_id = $1 AND id = $2"#,
                tenant.as_str(),
                id.0
            )
            .fetch_optional(pg)
        })
        .await?;
    if locked.is_none() {
        return Ok(None);
    }
    // a statement of its own: it sees what was committed while the lock was waited for
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT f.validity, h.id AS "holder?",
                       h.supersedes_id IS NOT DISTINCT FROM f.id OR EXISTS (
                           SELECT FROM memory_links l
                           WHERE l.tenant_id = $1 AND l.source_type = 'fact' AND l.source_id = h.id
                             AND l.target_type = 'fact' AND l.target_id = f.id AND l.relation = 'supersedes') AS "replaced_it!"
                FROM facts f
                LEFT JOIN facts h ON h.tenant_id = $1 AND fact_is_active(h.validity) AND h.scope = f.scope AND h.predicate = f.predicate
                     AND CASE WHEN f.entity_id IS NULL THEN h.entity_id IS NULL AND h.subject = f.subject
                              ELSE h.entity_id = f.entity_id END
                WHERE f.tenant_id = $1 AND f.id = $2
                "#,
                tenant.as_str(),
                id.0
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| Locked {
        validity: row.validity,
        holder: row.holder.map(|id| Holder { id, replaced_it: row.replaced_it }),
    }))
}

async fn set_validity(session: &mut Session, tenant: &TenantId, id: Uuid, to: &str) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!("UPDATE facts SET validity = $3 WHERE tenant_id = $1 AND id = $2", tenant.as_str(), id, to)
                .execute(pg)
        })
        .await?;
    Ok(())
}

async fn activate(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    expiry: f64,
    now: Timestamp,
) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "UPDATE facts SET validity = 'active',
                        metadata = fading_unmarked(metadata),
                        last_confirmed_at = CASE WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $3) < $4
                                                 THEN $3 ELSE last_confirmed_at END
                 WHERE tenant_id = $1 AND id = $2",
                tenant.as_str(),
                id,
                now,
                expiry
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// A forgotten rule is remembered again. `None`: this tenant has no such rule; `false`: it was not forgotten.
pub async fn rule(
    session: &mut Session,
    tenant: &TenantId,
    id: RuleId,
    expiry: f64,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<bool>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, rule_is_remembered(metadata) AS remembered
                    FROM rules WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE
                ), rule AS (
                    UPDATE rules SET metadata = fading_unmarked(metadata) - 'forgotten',
                           last_confirmed_at = CASE WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $3) < $4
                                                    THEN $3 ELSE last_confirmed_at END
                    FROM before WHERE rules.tenant_id = $1 AND rules.id = before.id AND NOT before.remembered
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $5, $6, $7, 'rule', id, $8,
                           '{"before": {"forgotten": true}, "after": {"forgotten": false}}', $3
                    FROM before WHERE NOT remembered
                )
                SELECT NOT remembered AS "restored!" FROM before
                "#,
                tenant.as_str(),
                id.0,
                now,
                expiry,
                butler_domain::ids::new_id(now),
                EventType::RuleRestored.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_optional(pg)
        })
        .await
}
