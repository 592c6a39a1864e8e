//! The audit stream for people: newest first, with a short label of what each event is about.

use butler_domain::{TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Listed, Page};
use crate::{Session, StoreError};

/// Selects events; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    pub types: Option<Vec<String>>,
    /// `episode`, `fact`, `rule`, `entity`.
    pub kind: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// An audit event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EventItem {
    pub id: Uuid,
    /// For instance `fact_created`.
    pub event_type: String,
    /// `episode`, `fact`, `rule` or `entity`; null when it is about many, or about none, such as a token.
    pub memory_type: Option<String>,
    pub memory_id: Option<Uuid>,
    /// The butler, worker or person that acted.
    pub actor: Option<String>,
    pub request_id: Option<String>,
    /// `before` and `after` hold the fields that changed.
    pub payload: Value,
    pub created_at: Timestamp,
    /// A few words of the memory; null when it is gone.
    pub label: Option<String>,
}

/// A page of events and the number of all events that match.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &EventFilter,
    page: Page,
) -> Result<Listed<EventItem>, StoreError> {
    let total = count(session, tenant, filter).await?;
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                EventItem,
                r#"
                SELECT e.id, e.event_type, e.memory_type, e.memory_id, e.actor, e.request_id, e.payload, e.created_at,
                       CASE e.memory_type
                           WHEN 'fact' THEN (SELECT concat_ws(' ', subject, replace(predicate, '_', ' ') || ':', left(content, 160))
                                             FROM facts WHERE tenant_id = $1 AND id = e.memory_id)
                           WHEN 'rule' THEN (SELECT left(content, 200) FROM rules WHERE tenant_id = $1 AND id = e.memory_id)
                           WHEN 'episode' THEN (SELECT left(content, 200) FROM episodes WHERE tenant_id = $1 AND id = e.memory_id)
                           WHEN 'entity' THEN (SELECT canonical_name FROM entities WHERE tenant_id = $1 AND id = e.memory_id)
                       END AS label
                FROM (
                    SELECT * FROM memory_events
                    WHERE tenant_id = $1 AND ($2::text[] IS NULL OR event_type = ANY ($2)) AND ($3::text IS NULL OR memory_type = $3)
                      AND created_at >= coalesce($4::timestamptz, '-infinity') AND created_at <= coalesce($5::timestamptz, 'infinity')
                      AND ($6::timestamptz IS NULL OR (created_at <= $6 AND (created_at < $6 OR id < $7)))
                    ORDER BY created_at DESC, id DESC LIMIT $8 OFFSET $9
                ) e ORDER BY e.created_at DESC, e.id DESC
                "#,
                tenant.as_str(),
                filter.types.as_deref(),
                filter.kind.as_deref(),
                filter.from,
                filter.to,
                page.after_at(),
                page.after_id(),
                page.limit,
                page.offset,
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(Listed { rows, total })
}

async fn count(session: &mut Session, tenant: &TenantId, filter: &EventFilter) -> Result<i64, StoreError> {
    if filter.kind.is_none() {
        return count_types(session, tenant, filter).await;
    }
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT count(*) AS "count!" FROM memory_events
                WHERE tenant_id = $1 AND ($2::text[] IS NULL OR event_type = ANY ($2)) AND ($3::text IS NULL OR memory_type = $3)
                  AND created_at >= coalesce($4::timestamptz, '-infinity') AND created_at <= coalesce($5::timestamptz, 'infinity')
                "#,
                tenant.as_str(),
                filter.types.as_deref(),
                filter.kind.as_deref(),
                filter.from,
                filter.to,
            )
            .fetch_one(pg)
        })
        .await
}

/// Counts events about any kind of memory. This is a statement of its own because the index on event types answers it alone; a
/// plan that also filters by kind would read every event.
async fn count_types(session: &mut Session, tenant: &TenantId, filter: &EventFilter) -> Result<i64, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT count(*) AS "count!" FROM memory_events
                WHERE tenant_id = $1 AND ($2::text[] IS NULL OR event_type = ANY ($2))
                  AND created_at >= coalesce($3::timestamptz, '-infinity') AND created_at <= coalesce($4::timestamptz, 'infinity')
                "#,
                tenant.as_str(),
                filter.types.as_deref(),
                filter.from,
                filter.to,
            )
            .fetch_one(pg)
        })
        .await
}

/// A memory's history is rarely longer, and people look at its newest part.
const HISTORY: i64 = 200;

/// The events of one memory, newest first.
pub async fn of_memory(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Vec<EventItem>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                EventItem,
                "SELECT id, event_type, memory_type, memory_id, actor, request_id, payload, created_at, NULL::text AS label
                 FROM memory_events WHERE tenant_id = $1 AND memory_id = $2 ORDER BY created_at DESC, id DESC LIMIT $3",
                tenant.as_str(),
                id,
                HISTORY
            )
            .fetch_all(pg)
        })
        .await
}

/// An event as the live stream sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveEvent {
    pub id: Uuid,
    pub event_type: String,
    pub memory_type: Option<String>,
    pub memory_id: Option<Uuid>,
    pub created_at: Timestamp,
}

/// The events since a time, oldest first, at most `limit`.
pub async fn since(
    session: &mut Session,
    tenant: &TenantId,
    from: Timestamp,
    limit: i64,
) -> Result<Vec<LiveEvent>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                LiveEvent,
                "SELECT id, event_type, memory_type, memory_id, created_at FROM memory_events
                 WHERE tenant_id = $1 AND created_at >= $2 ORDER BY created_at, id LIMIT $3",
                tenant.as_str(),
                from,
                limit
            )
            .fetch_all(pg)
        })
        .await
}
