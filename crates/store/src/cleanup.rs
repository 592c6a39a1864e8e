//! Removes episodes: expired ones, and the oldest consolidated ones of a tenant that has too many. Episodes that were
//! not consolidated do not expire. One call changes one batch, so no writer waits long.

use butler_domain::{TenantId, Timestamp};

use crate::{JobContext, Session, StoreError, WriteContext};

/// Rows per call, which take some tens of milliseconds.
pub const BATCH_ROWS: i64 = 2_000;

/// How many unconsolidated episodes a tenant may keep, and the new expiry of those.
#[derive(Debug, Clone, Copy)]
pub struct Unlearned {
    pub max: i64,
    pub until: Timestamp,
}

/// Extends the expiry of episodes that were not consolidated, except of forgotten ones. A tenant's oldest episodes
/// beyond `unlearned.max` are left to expire.
pub async fn keep_unlearned(job: JobContext<'_>, unlearned: Unlearned) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, .. } = job;
    let kept = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT keep_unlearned_episodes($1, $2, $3, $4, $5) AS "kept!""#,
                tenant.map(TenantId::as_str),
                now,
                unlearned.until,
                unlearned.max,
                BATCH_ROWS,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(kept.unsigned_abs())
}

/// Removes expired episodes. Of those that were not consolidated, it removes only forgotten ones and the oldest beyond
/// `max_unlearned`, and their events say so. Episodes that a worker has leased are left for the next run.
pub async fn expire(job: JobContext<'_>, max_unlearned: i64) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let removed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT expire_episodes($1, $2, $3, $4, $5, $6) AS "removed!""#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                max_unlearned,
                BATCH_ROWS,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(removed.unsigned_abs())
}

/// The tenants with at least `least` unconsolidated episodes, each with its number.
pub async fn most_unlearned(
    session: &mut Session,
    tenant: Option<&TenantId>,
    least: i64,
) -> Result<Vec<(String, i64)>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT tenant_id AS "tenant_id!", episodes AS "unlearned!" FROM unlearned_by_tenant($1)
                   WHERE episodes >= $2 ORDER BY tenant_id"#,
                tenant.map(TenantId::as_str),
                least
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(rows.into_iter().map(|row| (row.tenant_id, row.unlearned)).collect())
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

/// The number of episodes.
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
