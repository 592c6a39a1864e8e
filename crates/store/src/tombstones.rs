//! What must not be learned again. A forgotten fact or rule is its own tombstone; an erased one leaves a keyed hash.

use butler_domain::{MemoryType, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::browse::{Listed, Page};
use crate::{Session, StoreError, WriteContext};

/// What was forgotten or erased and came again, or may come again.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tombstone {
    /// The forgotten memory, or the tombstone itself if the memory was erased.
    pub id: Uuid,
    /// `fact` or `rule`.
    pub memory_type: String,
    /// The beginning of what was forgotten. Null if it was erased.
    pub text: Option<String>,
    pub forgotten_at: Timestamp,
    /// How often it came again and was not stored.
    pub suppressed: i32,
    pub suppressed_at: Option<Timestamp>,
    /// Since when it may be stored again. Null: it must not.
    pub allowed_at: Option<Timestamp>,
    pub allowed_by: Option<String>,
}

/// Counts that a forgotten statement came again and was not stored.
pub async fn suppressed(write: WriteContext<'_>, memory_type: MemoryType, id: Uuid) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, .. } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM suppress_statement($1, $2, $3, $4)",
                tenant.as_str(),
                now,
                memory_type.as_str(),
                id
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Whether something of this id was forgotten or erased.
pub async fn exists(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM facts WHERE tenant_id = $1 AND id = $2 AND validity = 'retracted')
                       OR EXISTS (SELECT FROM rules WHERE tenant_id = $1 AND id = $2 AND NOT rule_is_remembered(metadata))
                       OR EXISTS (SELECT FROM tombstones WHERE tenant_id = $1 AND id = $2) AS "exists!""#,
                tenant.as_str(),
                id
            )
            .fetch_one(pg)
        })
        .await
}

/// Allows it to be learned again. `None`: nothing of this id was forgotten or erased; `false`: it was allowed before.
pub async fn lift(write: WriteContext<'_>, id: Uuid) -> Result<Option<bool>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT lift_tombstone($1, $2, $3, $4, m.memory_type, $5) AS "lifted!"
                   FROM (SELECT 'fact' AS memory_type FROM facts WHERE tenant_id = $1 AND id = $5 AND validity = 'retracted'
                         UNION ALL SELECT 'rule' FROM rules WHERE tenant_id = $1 AND id = $5 AND NOT rule_is_remembered(metadata)
                         UNION ALL SELECT memory_type FROM tombstones WHERE tenant_id = $1 AND id = $5) m"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id
            )
            .fetch_optional(pg)
        })
        .await
}

/// Lets a memory that an undo retracted be learned again. Lists of tombstones do not show it.
pub async fn leave_none(write: WriteContext<'_>, memory_type: MemoryType, id: Uuid) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, .. } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM leave_no_tombstone($1, $2, $3, $4)",
                tenant.as_str(),
                now,
                memory_type.as_str(),
                id
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// What was forgotten or erased, what came again last first. `only_suppressed` leaves out what never came
/// again and what may be stored again.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    only_suppressed: bool,
    page: Page,
) -> Result<Listed<Tombstone>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH all_of_them AS (
                    SELECT f.id, 'fact' AS memory_type, left(concat_ws(' ', f.subject, f.predicate) || ': ' || f.content, 300) AS text,
                           coalesce(f.ended_at, f.created_at) AS forgotten_at
                    FROM facts f WHERE f.tenant_id = $1 AND f.validity = 'retracted'
                    UNION ALL
                    SELECT r.id, 'rule', left(r.content, 300), coalesce(
                               (SELECT max(e.created_at) FROM memory_events e
                                WHERE e.tenant_id = $1 AND e.memory_id = r.id AND e.event_type = 'rule_forgotten'), r.created_at)
                    FROM rules r
                    WHERE r.tenant_id = $1 AND r.metadata -> 'forgotten' = 'true' AND NOT rule_has_decayed($1, r.id, r.metadata)
                    UNION ALL
                    SELECT t.id, t.memory_type, NULL, t.created_at FROM tombstones t WHERE t.tenant_id = $1 AND t.hash IS NOT NULL)
                SELECT a.id AS "id!", a.memory_type AS "memory_type!", a.text, a.forgotten_at AS "forgotten_at!",
                       coalesce(t.suppressed, 0) AS "suppressed!", t.suppressed_at AS "suppressed_at?", t.allowed_at AS "allowed_at?",
                       t.allowed_by AS "allowed_by?", count(*) OVER () AS "total!"
                FROM all_of_them a
                LEFT JOIN tombstones t ON t.tenant_id = $1 AND (t.memory_id = a.id OR t.id = a.id)
                WHERE (t.allowed_at IS NULL OR t.allowed_by IS NOT NULL)
                  AND (NOT $2 OR t.suppressed > 0 AND t.allowed_at IS NULL)
                ORDER BY t.suppressed_at DESC NULLS LAST, a.forgotten_at DESC, a.id LIMIT $3 OFFSET $4
                "#,
                tenant.as_str(),
                only_suppressed,
                page.limit,
                page.offset
            )
            .fetch_all(pg)
        })
        .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let rows = rows.into_iter().map(|row| Tombstone {
        id: row.id,
        memory_type: row.memory_type,
        text: row.text,
        forgotten_at: row.forgotten_at,
        suppressed: row.suppressed,
        suppressed_at: row.suppressed_at,
        allowed_at: row.allowed_at,
        allowed_by: row.allowed_by,
    });
    Ok(Listed { rows: rows.collect(), total })
}
