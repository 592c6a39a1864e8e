//! Restoring a memory that was forgotten, expired or superseded.

use butler_domain::ids::new_id;
use butler_domain::{FactId, MemoryType, RuleId, TenantId, Timestamp};
use uuid::Uuid;

use crate::error::unknown_outcome;
use crate::events::ordered_ids;
use crate::{Session, StoreError, WriteContext};

/// The result of a restore. All outcomes but `Restored` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreOutcome {
    Restored {
        /// The newer fact that was retracted in exchange.
        retracted: Option<FactId>,
    },
    AlreadyActive,
    /// Another fact is active under the same key.
    KeyTaken {
        by: FactId,
    },
}

/// Makes a fact active again. A superseded fact replaces only the fact that superseded it. A fact whose confidence is
/// below `expiry` counts as confirmed now; otherwise the next sweep would end it again. Returns `None` if this tenant
/// has no such fact.
pub async fn fact(write: WriteContext<'_>, id: FactId, expiry: f64) -> Result<Option<RestoreOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", holder_id FROM restore_fact($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                &ordered_ids(2, now),
                id.0,
                expiry,
            )
            .fetch_optional(pg)
        })
        .await?;
    let Some(row) = row else { return Ok(None) };
    let holder = row.holder_id.map(FactId);
    match (&row.outcome[..], holder) {
        ("restored", retracted) => Ok(Some(RestoreOutcome::Restored { retracted })),
        ("already_active", _) => Ok(Some(RestoreOutcome::AlreadyActive)),
        ("key_taken", Some(by)) => Ok(Some(RestoreOutcome::KeyTaken { by })),
        (other, _) => Err(unknown_outcome("restore_fact", other)),
    }
}

/// A fact whose key is locked: nobody else stores a fact of that key until the transaction ends.
#[derive(Debug)]
pub struct Locked {
    pub validity: String,
    /// The fact that is active under the key now, which may be the locked fact itself.
    pub holder: Option<Uuid>,
}

/// Locks the key of a fact until the end of the caller's transaction. Returns `None` if this tenant has no such fact.
pub async fn lock(session: &mut Session, tenant: &TenantId, id: FactId) -> Result<Option<Locked>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(r#"SELECT validity AS "validity!", holder_id FROM lock_fact($1, $2)"#, tenant.as_str(), id.0)
                .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| Locked { validity: row.validity, holder: row.holder_id }))
}

/// Makes a forgotten rule retrievable again; `expiry` as for [`fact`]. Returns `false` if the rule was not forgotten,
/// `None` if this tenant has no such rule.
pub async fn rule(write: WriteContext<'_>, id: RuleId, expiry: f64) -> Result<Option<bool>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT restore_rule($1, $2, $3, $4, $5, $6, $7)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
                expiry,
            )
            .fetch_one(pg)
        })
        .await
}

/// Undoes the actor's last confirmation or mark of a fact or rule, if it was made at `made_at`. Returns false if
/// something else happened to it since, and `None` if this tenant has no such memory.
pub async fn undo_feedback(
    write: WriteContext<'_>,
    memory_type: MemoryType,
    id: Uuid,
    made_at: Option<Timestamp>,
) -> Result<Option<bool>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT undo_feedback($1, $2, $3, $4, $5, $6, $7, $8)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                memory_type.as_str(),
                id,
                made_at,
            )
            .fetch_one(pg)
        })
        .await
}
