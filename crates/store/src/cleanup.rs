//! Removing episodes: those that expired, and the oldest consolidated ones of a tenant that has too many. One call removes
//! one batch, so that no writer waits long.

use butler_domain::{TenantId, Timestamp};

use crate::{JobContext, Session, StoreError, WriteContext};

/// Rows that one call removes, in some tens of milliseconds.
pub const BATCH_ROWS: i64 = 2_000;

/// Removes expired episodes. An episode that was never consolidated stays until `pending_before`, unless it was forgotten;
/// its event says so. Episodes that a worker has leased are left for the next time.
pub async fn expire(job: JobContext<'_>, pending_before: Timestamp) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let removed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT expire_episodes($1, $2, $3, $4, $5, $6) AS "removed!""#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                pending_before,
                BATCH_ROWS,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(removed.unsigned_abs())
}

/// The tenants with more than `max` episodes, each with its excess.
pub async fn over_capacity(
    session: &mut Session,
    tenant: Option<&TenantId>,
    max: i64,
) -> Result<Vec<(TenantId, i64)>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT tenant_id, count(*) - $2 AS "excess!" FROM episodes
                   WHERE $1::text IS NULL OR tenant_id = $1
                   GROUP BY tenant_id HAVING count(*) > $2 ORDER BY tenant_id"#,
                tenant.map(TenantId::as_str),
                max
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let tenant = TenantId::new(row.tenant_id.clone()).map_err(|error| StoreError::BadData {
                table: "episodes",
                column: "tenant_id",
                id: row.tenant_id,
                reason: error.to_string(),
            })?;
            Ok((tenant, row.excess))
        })
        .collect()
}

/// Removes the oldest consolidated episodes of a tenant, at most `rows` and at most one batch. Episodes that are not
/// consolidated are kept.
pub async fn evict(write: WriteContext<'_>, rows: i64) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let removed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT evict_episodes($1, $2, $3, $4, $5) AS "removed!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                rows.min(BATCH_ROWS),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(removed.unsigned_abs())
}

/// The number of episodes that are left.
pub async fn remaining(session: &mut Session, tenant: Option<&TenantId>) -> Result<u64, StoreError> {
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM episodes WHERE $1::text IS NULL OR tenant_id = $1"#,
                tenant.map(TenantId::as_str)
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}
