//! Episodes nobody could learn from: to be looked at, and to be tried again.

use butler_domain::event::{EventType, Origin};
use butler_domain::{EpisodeId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::lease::uuids;
use crate::browse::{Listed, Page};
use crate::{Session, StoreError};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeadLetter {
    pub id: Uuid,
    pub butler: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub attempts: i32,
    pub error: Option<String>,
    /// The beginning of its content.
    pub excerpt: String,
}

/// Oldest first.
pub async fn list(session: &mut Session, tenant: &TenantId, page: Page) -> Result<Listed<DeadLetter>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                DeadLetter,
                r#"SELECT id, butler, created_at, expires_at, retry_count AS attempts, last_error AS error,
                          left(content, 120) AS "excerpt!"
                   FROM episodes WHERE tenant_id = $1 AND consolidation_status = 'dead_letter'
                   ORDER BY created_at, id LIMIT $2 OFFSET $3"#,
                tenant.as_str(),
                page.limit,
                page.offset
            )
            .fetch_all(pg)
        })
        .await?;
    let total = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!" FROM episodes WHERE tenant_id = $1 AND consolidation_status = 'dead_letter'"#,
                tenant.as_str()
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Listed { rows, total })
}

/// Makes them pending again, as if never tried; all of the tenant's when none is named. Returns how many.
pub async fn requeue(
    session: &mut Session,
    tenant: &TenantId,
    episodes: Option<&[EpisodeId]>,
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let ids = episodes.map(uuids);
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH before AS MATERIALIZED (
                    SELECT id, retry_count, last_error FROM episodes
                    WHERE tenant_id = $1 AND consolidation_status = 'dead_letter' AND ($2::uuid[] IS NULL OR id = ANY ($2))
                    FOR UPDATE
                ), done AS (
                    UPDATE episodes SET consolidation_status = 'pending', retry_count = 0, last_error = NULL,
                                        next_consolidation_retry_at = NULL
                    FROM before WHERE episodes.tenant_id = $1 AND episodes.id = before.id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $4, $5, 'episode', id, $6,
                           jsonb_build_object('before', jsonb_build_object('consolidation_status', 'dead_letter',
                                                                           'attempts', retry_count, 'error', last_error),
                                              'after', jsonb_build_object('consolidation_status', 'pending')), $3
                    FROM before
                )
                SELECT count(*) AS "count!" FROM before
                "#,
                tenant.as_str(),
                ids.as_deref(),
                now,
                EventType::EpisodeRequeued.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}
