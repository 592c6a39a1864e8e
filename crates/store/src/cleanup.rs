//! Removing episodes: those whose time is over, and the oldest consolidated ones of a tenant that has too many.
//! In batches, each one statement, so that no writer waits long.

use butler_domain::event::{EventType, Origin};
use butler_domain::{TenantId, Timestamp};

use crate::{Session, StoreError};

/// What one statement removes: some tens of milliseconds.
pub const BATCH_ROWS: i64 = 2_000;

/// Removes expired episodes. One that was never consolidated stays until `pending_before`, unless it was forgotten;
/// its event says that nobody learned from it. What a worker holds just now is left for the next time.
pub async fn expire(
    session: &mut Session,
    tenant: Option<&TenantId>,
    pending_before: Timestamp,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let removed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH due AS MATERIALIZED (
                    SELECT id FROM episodes
                    WHERE expires_at < $2 AND ($1::text IS NULL OR tenant_id = $1)
                      AND (lease_token IS NULL OR leased_until <= $2)
                      AND (consolidated OR expires_at < $3 OR NOT episode_is_learnable(tenant_id, id, expires_at, $2))
                    ORDER BY expires_at LIMIT $4 FOR UPDATE SKIP LOCKED
                ), removed AS (
                    DELETE FROM episodes WHERE id = ANY (ARRAY(SELECT id FROM due))
                    RETURNING tenant_id, id, butler, consolidation_status, consolidated, retry_count, created_at, expires_at
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT tenant_id, $5, $6, 'episode', id, $7,
                           jsonb_build_object('butler', butler, 'consolidation_status', consolidation_status,
                                              'never_consolidated', NOT consolidated, 'attempts', retry_count,
                                              'stored_at', created_at, 'expires_at', expires_at), $2
                    FROM removed
                )
                SELECT count(*) AS "removed!" FROM removed
                "#,
                tenant.map(TenantId::as_str),
                now,
                pending_before,
                BATCH_ROWS,
                EventType::EpisodeExpired.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(removed.unsigned_abs())
}

/// Tenants with more than `max` episodes, and by how many.
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

/// Removes the oldest consolidated episodes of a tenant, at most `rows` and at most a batch. What is not consolidated
/// is never touched.
pub async fn evict(
    session: &mut Session,
    tenant: &TenantId,
    rows: i64,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let removed = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH removed AS (
                    DELETE FROM episodes WHERE tenant_id = $1 AND id = ANY (ARRAY(
                        SELECT id FROM episodes WHERE tenant_id = $1 AND consolidated
                        ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED))
                    RETURNING id, butler, created_at, expires_at
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, 'episode', id, $6,
                           jsonb_build_object('butler', butler, 'stored_at', created_at, 'expires_at', expires_at), $3
                    FROM removed
                )
                SELECT count(*) AS "removed!" FROM removed
                "#,
                tenant.as_str(),
                rows.min(BATCH_ROWS),
                now,
                EventType::EpisodeEvicted.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(removed.unsigned_abs())
}

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
