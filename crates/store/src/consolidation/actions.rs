//! Checks before an action is applied: whether it was applied before, and which rule or fact it concerns.

use butler_domain::{EntityId, FactId, Permanence, RuleId, Scope, TenantId, Timestamp};
use uuid::Uuid;

use crate::{Session, StoreError};

const TOOL: &str = "consolidation";

/// Marks an action as applied, in its transaction. Returns `false` if it was applied before.
pub async fn claim(session: &mut Session, tenant: &TenantId, key: Uuid, now: Timestamp) -> Result<bool, StoreError> {
    let done = session
        .run(|pg| {
            sqlx::query!(
                "INSERT INTO idempotency_keys (tenant_id, key, tool, request, response, created_at)
                 VALUES ($1, $2, $3, '', '{}', $4) ON CONFLICT DO NOTHING",
                tenant.as_str(),
                format!("{TOOL}:{key}"),
                TOOL,
                now
            )
            .execute(pg)
        })
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A remembered rule that says exactly this.
pub async fn standing_rule(
    session: &mut Session,
    tenant: &TenantId,
    scope: &Scope,
    content: &str,
) -> Result<Option<RuleId>, StoreError> {
    let id = session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT id FROM rules
                 WHERE tenant_id = $1 AND scope = $2 AND content = $3 AND rule_is_remembered(metadata)
                 ORDER BY created_at, id LIMIT 1",
                tenant.as_str(),
                scope.as_str(),
                content
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(id.map(RuleId))
}

/// A fact to update. The update keeps its identity and every field that it does not name.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub id: FactId,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub scope: Scope,
    pub entity_id: Option<EntityId>,
    pub importance: f64,
    pub permanence: Permanence,
    pub tags: Vec<String>,
}

/// The active ones among these facts of a tenant.
pub async fn targets(session: &mut Session, tenant: &TenantId, ids: &[FactId]) -> Result<Vec<Target>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, subject, predicate, content, scope, entity_id, importance, permanence, tags FROM facts
                 WHERE tenant_id = $1 AND id = ANY ($2) AND fact_is_active(validity)",
                tenant.as_str(),
                &ids
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let bad =
                |column, reason: String| StoreError::BadData { table: "facts", column, id: row.id.to_string(), reason };
            Ok(Target {
                id: FactId(row.id),
                scope: Scope::new(row.scope).map_err(|error| bad("scope", error.to_string()))?,
                permanence: row
                    .permanence
                    .parse()
                    .map_err(|error: butler_domain::UnknownName| bad("permanence", error.to_string()))?,
                tags: serde_json::from_value(row.tags).map_err(|error| bad("tags", error.to_string()))?,
                subject: row.subject,
                predicate: row.predicate,
                content: row.content,
                entity_id: row.entity_id.map(EntityId),
                importance: row.importance,
            })
        })
        .collect()
}
