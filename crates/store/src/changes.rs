//! What changed in a period.

use butler_domain::times::FactDates;
use butler_domain::{EntityId, TenantId, Timestamp};
use sqlx::types::Json;
use uuid::Uuid;

use crate::{Session, StoreError};

/// A memory that changed. `functions/memory_changes.sql` defines the sections.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub section: String,
    pub memory_type: String,
    pub id: Uuid,
    pub at: Timestamp,
    pub event_type: String,
    pub entity_id: Option<EntityId>,
    /// The entity, or the subject of a fact without one.
    pub name: Option<String>,
    pub predicate: Option<String>,
    /// `None` for what was forgotten.
    pub content: Option<String>,
    /// The content before the change.
    pub before: Option<String>,
    pub dates: Option<FactDates>,
}

/// The changes between two times, newest first. A scope includes the global scope.
pub async fn between(
    session: &mut Session,
    tenant: &TenantId,
    scope: Option<&str>,
    since: Timestamp,
    until: Timestamp,
    limit: i32,
) -> Result<Vec<Change>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT section AS "section!", memory_type AS "memory_type!", id AS "id!", changed_at AS "at!",
                          event_type AS "event_type!", entity_id, name, predicate, content, before,
                          dates AS "dates: Json<FactDates>"
                   FROM memory_changes($1, $2, $3, $4, $5)"#,
                tenant.as_str(),
                scope,
                since,
                until,
                limit
            )
            .fetch_all(pg)
        })
        .await?;
    let change = rows.into_iter().map(|row| Change {
        section: row.section,
        memory_type: row.memory_type,
        id: row.id,
        at: row.at,
        event_type: row.event_type,
        entity_id: row.entity_id.map(EntityId),
        name: row.name,
        predicate: row.predicate,
        content: row.content,
        before: row.before,
        dates: row.dates.map(|Json(dates)| dates),
    });
    Ok(change.collect())
}
