//! Dead letters: episodes whose consolidation failed too often. A person can list them and queue them again.

use butler_domain::{EpisodeId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::lease::uuids;
use crate::browse::{Listed, Page};
use crate::{Session, StoreError, WriteContext};

/// An episode without attempts left, and its last error.
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

/// The dead letters of a tenant, oldest first.
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

/// Makes dead letters pending again, as if never tried: the named ones, or all of the tenant's. Returns how many.
pub async fn requeue(write: WriteContext<'_>, episodes: Option<&[EpisodeId]>) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let ids = episodes.map(uuids);
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT requeue_episodes($1, $2, $3, $4, $5) AS "count!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                ids.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}
