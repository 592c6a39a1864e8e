//! Directed edges between memories.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::link::Link;
use butler_domain::{EpisodeId, MemoryType, Relation, TenantId, Timestamp};
use uuid::Uuid;

use crate::{Session, StoreError};

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct End {
    pub memory_type: MemoryType,
    pub id: Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOutcome {
    Created,
    /// The two were linked before; this is the relation that stands.
    Exists(Relation),
    /// No memory of this tenant is at that end; nothing was written.
    NoSource,
    NoTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    Outgoing,
    Incoming,
    #[default]
    Both,
}

/// A link, and whether what it points at is still there: episodes expire, their links stay.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLink {
    pub link: Link,
    pub source_exists: bool,
    pub target_exists: bool,
}

/// Creates the link and its event, unless the two are linked already.
pub async fn create(
    session: &mut Session,
    tenant: &TenantId,
    source: End,
    target: End,
    relation: Relation,
    now: Timestamp,
    origin: &Origin,
) -> Result<LinkOutcome, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH ends AS MATERIALIZED (
                    SELECT memory_exists($1, $2, $3) AS source_exists, memory_exists($1, $4, $5) AS target_exists
                ), link AS (
                    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                    SELECT $1, $2, $3, $4, $5, $6, $7 FROM ends WHERE source_exists AND target_exists
                    ON CONFLICT DO NOTHING
                    RETURNING relation
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $8, $9, $10, $2, $3, $11,
                           jsonb_build_object('after', jsonb_build_object('relation', relation, 'target_type', $4::text, 'target_id', $5::uuid)),
                           $7
                    FROM link
                )
                SELECT source_exists AS "source_exists!", target_exists AS "target_exists!",
                       EXISTS (SELECT FROM link) AS "created!"
                FROM ends
                "#,
                tenant.as_str(),
                source.memory_type.as_str(),
                source.id,
                target.memory_type.as_str(),
                target.id,
                relation.as_str(),
                now,
                new_id(now),
                EventType::LinkCreated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    if !row.source_exists {
        return Ok(LinkOutcome::NoSource);
    }
    if !row.target_exists {
        return Ok(LinkOutcome::NoTarget);
    }
    if row.created {
        return Ok(LinkOutcome::Created);
    }
    Ok(LinkOutcome::Exists(standing(session, tenant, source, target).await?.unwrap_or(relation)))
}

/// Asked on its own, since a link that another writer made a moment ago is not in the creating statement's view.
async fn standing(
    session: &mut Session,
    tenant: &TenantId,
    source: End,
    target: End,
) -> Result<Option<Relation>, StoreError> {
    let name = session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT relation FROM memory_links
                 WHERE tenant_id = $1 AND source_type = $2 AND source_id = $3 AND target_type = $4 AND target_id = $5",
                tenant.as_str(),
                source.memory_type.as_str(),
                source.id,
                target.memory_type.as_str(),
                target.id,
            )
            .fetch_optional(pg)
        })
        .await?;
    name.map(|name| name.parse().map_err(|e| bad_link("relation", source.id, &e))).transpose()
}

fn bad_link(column: &'static str, source: Uuid, reason: &butler_domain::UnknownName) -> StoreError {
    StoreError::BadData { table: "memory_links", column, id: source.to_string(), reason: reason.to_string() }
}

/// Names the episodes a memory was made from; those that are not there (any more) are left out. Returns how many were linked.
pub async fn derive(
    session: &mut Session,
    tenant: &TenantId,
    source: End,
    episodes: &[EpisodeId],
    now: Timestamp,
    origin: &Origin,
) -> Result<u64, StoreError> {
    let ids: Vec<Uuid> = episodes.iter().map(|id| id.0).collect();
    let linked = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH link AS (
                    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                    SELECT $1, $2, $3, 'episode', id, 'derived_from', $5
                    FROM episodes WHERE tenant_id = $1 AND id = ANY ($4)
                    ON CONFLICT DO NOTHING
                    RETURNING target_id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $6, $7, $2, $3, $8,
                           jsonb_build_object('after', jsonb_build_object(
                               'relation', 'derived_from', 'target_type', 'episode', 'target_id', target_id)), $5
                    FROM link
                )
                SELECT count(*) AS "linked!" FROM link
                "#,
                tenant.as_str(),
                source.memory_type.as_str(),
                source.id,
                &ids,
                now,
                EventType::LinkCreated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(linked.unsigned_abs())
}

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
