//! What became of the episodes of a batch. Each statement is fenced by the token: it changes nothing of another worker's.

use butler_domain::consolidation::AfterFailure;
use butler_domain::event::{EventType, Origin};
use butler_domain::{EpisodeId, TenantId, Timestamp};
use uuid::Uuid;

use super::lease::uuids;
use crate::{Session, StoreError};

/// In the transaction that applied the actions: both happen or neither.
pub async fn consolidated(
    session: &mut Session,
    tenant: &TenantId,
    episodes: &[EpisodeId],
    token: Uuid,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let ids = uuids(episodes);
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH done AS (
                    UPDATE episodes SET consolidated = true, consolidation_status = 'consolidated', last_error = NULL,
                                        next_consolidation_retry_at = NULL, lease_token = NULL, leased_until = NULL
                    WHERE tenant_id = $1 AND id = ANY ($2) AND lease_token = $3
                    RETURNING id, retry_count
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $5, $6, 'episode', id, $7,
                           jsonb_build_object('after', jsonb_build_object('consolidation_status', 'consolidated'),
                                              'attempts', retry_count + 1, 'run', $3::uuid), $4
                    FROM done
                )
                SELECT count(*) AS "count!" FROM done
                "#,
                tenant.as_str(),
                &ids,
                token,
                now,
                EventType::EpisodeConsolidated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}

/// What becomes of one episode whose attempt failed.
#[derive(Debug, Clone, Copy)]
pub struct Failed {
    pub id: EpisodeId,
    pub next: AfterFailure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailedCounts {
    pub failed: u64,
    pub dead_lettered: u64,
}

pub async fn failed(
    session: &mut Session,
    tenant: &TenantId,
    episodes: &[Failed],
    error: &str,
    token: Uuid,
    now: Timestamp,
    origin: &Origin,
) -> Result<FailedCounts, StoreError> {
    let ids: Vec<Uuid> = episodes.iter().map(|episode| episode.id.0).collect();
    let retries: Vec<Option<Timestamp>> = episodes
        .iter()
        .map(|episode| match episode.next {
            AfterFailure::RetryAt(at) => Some(at),
            AfterFailure::DeadLetter => None,
        })
        .collect();
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH done AS (
                    UPDATE episodes e
                    SET consolidation_status = CASE WHEN f.retry_at IS NULL THEN 'dead_letter' ELSE 'failed' END,
                        retry_count = retry_count + 1, last_error = $4, next_consolidation_retry_at = f.retry_at,
                        lease_token = NULL, leased_until = NULL
                    FROM unnest($2::uuid[], $3::timestamptz[]) AS f (id, retry_at)
                    WHERE e.tenant_id = $1 AND e.id = f.id AND e.lease_token = $5
                    RETURNING e.id, e.retry_count, f.retry_at
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, CASE WHEN retry_at IS NULL THEN $7 ELSE $8 END, $9, 'episode', id, $10,
                           jsonb_build_object('error', $4::text, 'attempts', retry_count, 'retry_at', retry_at, 'run', $5::uuid), $6
                    FROM done
                )
                SELECT count(*) FILTER (WHERE retry_at IS NOT NULL) AS "failed!",
                       count(*) FILTER (WHERE retry_at IS NULL) AS "dead!"
                FROM done
                "#,
                tenant.as_str(),
                &ids,
                &retries as &[Option<Timestamp>],
                error,
                token,
                now,
                EventType::EpisodeDeadLettered.as_str(),
                EventType::EpisodeConsolidationFailed.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(FailedCounts { failed: row.failed.unsigned_abs(), dead_lettered: row.dead.unsigned_abs() })
}
