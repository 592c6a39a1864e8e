//! Links: directed edges between memories.

use butler_domain::ids::new_id;
use butler_domain::link::Link;
use butler_domain::{MemoryType, Relation, TenantId};
use uuid::Uuid;

use crate::error::unknown_outcome;
use crate::{Session, StoreError, WriteContext};

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct End {
    pub memory_type: MemoryType,
    pub id: Uuid,
}

/// The result of linking two memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOutcome {
    Created,
    /// The two memories were linked before, with this relation.
    Exists(Relation),
    /// The tenant has no such source. Nothing was written.
    NoSource,
    /// The tenant has no such target. Nothing was written.
    NoTarget,
}

/// Which links of a memory to return: those that start at it, that end at it, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    Outgoing,
    Incoming,
    #[default]
    Both,
}

/// A link, and whether its ends still exist. Episodes expire, but their links stay.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLink {
    pub link: Link,
    pub source_exists: bool,
    pub target_exists: bool,
}

/// Links two memories, unless they are linked already.
pub async fn create(
    write: WriteContext<'_>,
    source: End,
    target: End,
    relation: Relation,
) -> Result<LinkOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", relation FROM create_link($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                source.memory_type.as_str(),
                source.id,
                target.memory_type.as_str(),
                target.id,
                relation.as_str(),
            )
            .fetch_one(pg)
        })
        .await?;
    match &row.outcome[..] {
        "created" => Ok(LinkOutcome::Created),
        "exists" => match row.relation {
            Some(name) => {
                let existing = name.parse().map_err(|error| bad_link("relation", source.id, &error))?;
                Ok(LinkOutcome::Exists(existing))
            }
            // The link was removed meanwhile.
            None => Ok(LinkOutcome::Exists(relation)),
        },
        "no_source" => Ok(LinkOutcome::NoSource),
        "no_target" => Ok(LinkOutcome::NoTarget),
        other => Err(unknown_outcome("create_link", other)),
    }
}

fn bad_link(column: &'static str, source: Uuid, reason: &butler_domain::UnknownName) -> StoreError {
    StoreError::BadData { table: "memory_links", column, id: source.to_string(), reason: reason.to_string() }
}

/// The links of a memory, newest first.
pub async fn of(
    session: &mut Session,
    tenant: &TenantId,
    end: End,
    direction: Direction,
) -> Result<Vec<FoundLink>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT source_type, source_id, target_type, target_id, relation, created_at,
                       memory_exists(tenant_id, source_type, source_id) AS "source_exists!",
                       memory_exists(tenant_id, target_type, target_id) AS "target_exists!"
                FROM memory_links
                WHERE tenant_id = $1
                  AND (($4 AND source_type = $2 AND source_id = $3) OR ($5 AND target_type = $2 AND target_id = $3))
                ORDER BY created_at DESC, source_id, target_id
                "#,
                tenant.as_str(),
                end.memory_type.as_str(),
                end.id,
                direction != Direction::Incoming,
                direction != Direction::Outgoing,
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            Ok(FoundLink {
                link: Link {
                    source_type: row.source_type.parse().map_err(|e| bad_link("source_type", row.source_id, &e))?,
                    source_id: row.source_id,
                    target_type: row.target_type.parse().map_err(|e| bad_link("target_type", row.source_id, &e))?,
                    target_id: row.target_id,
                    relation: row.relation.parse().map_err(|e| bad_link("relation", row.source_id, &e))?,
                    created_at: row.created_at,
                },
                source_exists: row.source_exists,
                target_exists: row.target_exists,
            })
        })
        .collect()
}
