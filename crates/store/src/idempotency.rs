//! Answers kept for a caller that asks twice because it did not hear the first answer.

use butler_domain::{TenantId, Timestamp};
use serde_json::Value;

use crate::{Session, StoreError};

/// The caller's key for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    pub key: String,
    pub tool: &'static str,
    /// A digest of the arguments: the same key with others is a mistake, not a retry.
    pub request: [u8; 32],
}

#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// The same request was answered with this.
    Answer(Value),
    /// The key belongs to another request.
    Conflict { tool: String },
}

pub async fn find(session: &mut Session, tenant: &TenantId, keyed: &Keyed) -> Result<Option<Found>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                "SELECT tool, request, response FROM idempotency_keys WHERE tenant_id = $1 AND key = $2",
                tenant.as_str(),
                keyed.key
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| {
        if row.tool == keyed.tool && row.request == keyed.request {
            Found::Answer(row.response)
        } else {
            Found::Conflict { tool: row.tool }
        }
    }))
}

/// Removes keys nobody will retry any more. Sees all tenants.
pub async fn prune(session: &mut Session, before: Timestamp) -> Result<u64, StoreError> {
    let done = session
        .run(|pg| {
            sqlx::query!(
                "DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM idempotency_keys WHERE created_at < $1 LIMIT 10000 FOR UPDATE SKIP LOCKED))",
                before
            )
            .execute(pg)
        })
        .await?;
    Ok(done.rows_affected())
}
