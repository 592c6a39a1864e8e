//! The links of a memory, with a short text of the memory at the other end.

use butler_domain::{MemoryType, Relation, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Session, StoreError};

/// How many links of a memory are shown, newest first.
const SHOWN: i64 = 200;

/// The direction of a link, seen from the memory whose links are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Outgoing,
    Incoming,
}

/// A link, seen from one of its ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkItem {
    pub side: Side,
    pub relation: Relation,
    /// The memory at the other end.
    pub memory_type: MemoryType,
    pub id: Uuid,
    /// A short text of it; null if it no longer exists. Episodes expire, but their links stay.
    pub label: Option<String>,
    pub created_at: Timestamp,
}

/// The links of a memory, newest first.
pub async fn of(
    session: &mut Session,
    tenant: &TenantId,
    memory_type: MemoryType,
    id: Uuid,
) -> Result<Vec<LinkItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT l.outgoing AS "outgoing!", l.relation AS "relation!", l.other_type AS "other_type!", l.other_id AS "other_id!",
                       l.created_at AS "created_at!",
                       CASE l.other_type
                           WHEN 'fact' THEN (SELECT concat_ws(' ', subject, replace(predicate, '_', ' ') || ':', left(content, 160))
                                             FROM facts WHERE tenant_id = $1 AND id = l.other_id)
                           WHEN 'rule' THEN (SELECT left(content, 200) FROM rules WHERE tenant_id = $1 AND id = l.other_id)
                           ELSE (SELECT left(content, 200) FROM episodes WHERE tenant_id = $1 AND id = l.other_id)
                       END AS label
                FROM (
                    SELECT true AS outgoing, relation, target_type AS other_type, target_id AS other_id, created_at
                    FROM memory_links WHERE tenant_id = $1 AND source_type = $2 AND source_id = $3
                    UNION ALL
                    SELECT false, relation, source_type, source_id, created_at
                    FROM memory_links WHERE tenant_id = $1 AND target_type = $2 AND target_id = $3
                ) l ORDER BY l.created_at DESC, l.other_id LIMIT $4
                "#,
                tenant.as_str(),
                memory_type.as_str(),
                id,
                SHOWN
            )
            .fetch_all(pg)
        })
        .await?;
    let bad = |column, error: butler_domain::UnknownName| StoreError::BadData {
        table: "memory_links",
        column,
        id: id.to_string(),
        reason: error.to_string(),
    };
    rows.into_iter()
        .map(|row| {
            Ok(LinkItem {
                side: if row.outgoing { Side::Outgoing } else { Side::Incoming },
                relation: row.relation.parse().map_err(|error| bad("relation", error))?,
                memory_type: row.other_type.parse().map_err(|error| bad("type", error))?,
                id: row.other_id,
                label: row.label,
                created_at: row.created_at,
            })
        })
        .collect()
}
