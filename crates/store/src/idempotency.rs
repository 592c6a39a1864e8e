//! Responses kept for a caller that repeats a request because it did not receive the first response.

use butler_domain::{TenantId, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::hex::hex;
use crate::{Session, StoreError};

/// A request with the idempotency key that its caller gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    pub key: String,
    pub tool: &'static str,
    /// A digest of the arguments: the same key with other arguments is the caller's mistake, not a retry.
    pub request: [u8; 32],
}

/// The argument of `keep_response`.
#[derive(Serialize)]
pub(crate) struct KeyedRow<'a> {
    key: &'a str,
    tool: &'a str,
    digest: String,
}

impl Keyed {
    pub(crate) fn row(&self) -> KeyedRow<'_> {
        KeyedRow { key: &self.key, tool: self.tool, digest: hex(&self.request) }
    }
}

/// The request that used a key before.
#[derive(Debug, Clone, PartialEq)]
pub enum EarlierRequest {
    /// It was the same request, with this response.
    Same(Value),
    /// It was another request; the caller reused its key.
    Different { tool: String },
}

/// The request that used this key before, if any did.
pub async fn find(
    session: &mut Session,
    tenant: &TenantId,
    keyed: &Keyed,
) -> Result<Option<EarlierRequest>, StoreError> {
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
            EarlierRequest::Same(row.response)
        } else {
            EarlierRequest::Different { tool: row.tool }
        }
    }))
}

/// Removes the keys of all tenants that are too old to be retried.
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
