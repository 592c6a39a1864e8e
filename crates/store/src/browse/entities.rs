//! Entities for lists and detail pages.

use std::collections::HashMap;

use butler_domain::{Entity, EntityType, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Listed, Page};
use crate::entities::EntityRow;
use crate::times::names_then;
use crate::{Session, StoreError};

/// How many related entities a page shows.
const RELATED: i64 = 30;

/// The order of a list of entities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntitySort {
    #[default]
    Name,
    Newest,
    /// Most active facts first.
    Facts,
    /// The best match of the query first.
    Best,
}

/// Selects entities; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct EntityFilter {
    pub entity_type: Option<EntityType>,
    /// Part of a name or alias.
    pub words: Option<String>,
    /// Includes entities that were merged into others.
    pub merged: bool,
    /// Only these. The order `best` is theirs.
    pub ids: Option<Vec<Uuid>>,
    /// Created from then on.
    pub since: Option<Timestamp>,
    /// Created before then.
    pub until: Option<Timestamp>,
    pub sort: EntitySort,
}

/// An entity in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EntityItem {
    #[serde(flatten)]
    pub entity: Entity,
    /// Active facts about it.
    pub facts: i64,
    /// Whether it was merged into another entity.
    pub merged: bool,
    /// How well it matches the query, in the order `best`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One page of the entities that match the filter.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &EntityFilter,
    page: Page,
) -> Result<Listed<EntityItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH matching AS MATERIALIZED (
                    SELECT id, canonical_name, created_at,
                           CASE WHEN $5 = 'facts' THEN (SELECT count(*) FROM facts f WHERE f.tenant_id = $1 AND f.entity_id = e.id AND f.validity = 'active') END AS facts
                    FROM entities e
                    WHERE tenant_id = $1 AND ($2::text IS NULL OR entity_type = $2)
                      AND ($3::text IS NULL OR strpos(lower_names, lower($3)) > 0) AND ($4 OR entity_is_live(metadata))
                      AND ($8::uuid[] IS NULL OR id = ANY ($8))
                      AND created_at >= coalesce($9::timestamptz, '-infinity') AND created_at < coalesce($10::timestamptz, 'infinity')
                )
                SELECT (SELECT count(*) FROM matching) AS "total!", ARRAY(
                    SELECT id FROM matching
                    ORDER BY CASE WHEN $5 = 'best' THEN array_position($8, id) END, CASE WHEN $5 = 'newest' THEN created_at END DESC, facts DESC, lower(canonical_name), id
                    LIMIT $6 OFFSET $7) AS "ids!"
                "#,
                tenant.as_str(),
                filter.entity_type.map(EntityType::as_str),
                filter.words.as_deref(),
                filter.merged,
                match filter.sort {
                    EntitySort::Name => "name",
                    EntitySort::Newest => "newest",
                    EntitySort::Facts => "facts",
                    EntitySort::Best => "best",
                },
                page.limit,
                page.offset,
                filter.ids.as_deref(),
                filter.since,
                filter.until,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Listed { total: rows.total, rows: by_ids(session, tenant, &rows.ids).await? })
}

/// The entity as a list shows it; `None` if this tenant has no such entity.
pub async fn one(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Option<EntityItem>, StoreError> {
    Ok(by_ids(session, tenant, &[id]).await?.pop())
}

/// These entities, in the order of `ids`.
pub async fn by_ids(session: &mut Session, tenant: &TenantId, ids: &[Uuid]) -> Result<Vec<EntityItem>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                EntityRow,
                "SELECT id, tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at
                 FROM entities WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY array_position($2, id)",
                tenant.as_str(),
                ids
            )
            .fetch_all(pg)
        })
        .await?;
    let facts = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT entity_id AS "entity_id!", count(*) AS "count!" FROM facts
                   WHERE tenant_id = $1 AND entity_id = ANY ($2) AND validity = 'active' GROUP BY entity_id"#,
                tenant.as_str(),
                ids
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let entity = Entity::try_from(row)?;
            let merged = crate::entities::is_tombstone(&entity);
            let facts = facts.iter().find(|row| row.entity_id == entity.id.0).map_or(0, |row| row.count);
            Ok(EntityItem { entity, facts, merged, score: None })
        })
        .collect()
}

/// Canonical names by id.
pub(super) async fn names(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, canonical_name FROM entities WHERE tenant_id = $1 AND id = ANY ($2)",
                tenant.as_str(),
                ids
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.canonical_name)).collect())
}

/// An episode that names an entity.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Mention {
    pub id: Uuid,
    /// The beginning of its text.
    pub content: String,
    pub created_at: Timestamp,
}

/// The latest episodes that name an entity, newest first, at most `limit`, and how many there are. Only the tenant's latest
/// 2,000 episodes are read.
pub async fn mentions(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    now: Timestamp,
    limit: i64,
) -> Result<Listed<Mention>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT e.id, left(e.content, 300) AS "content!", e.created_at, count(*) OVER () AS "total!"
                FROM entity_patterns($1, ARRAY[$2::uuid]) p,
                     LATERAL (SELECT e.* FROM (SELECT id, content, created_at FROM episodes
                                               WHERE tenant_id = $1 AND episode_is_alive(expires_at, $4)
                                               ORDER BY created_at DESC, id LIMIT 2000) e
                              WHERE text_names(left(e.content, 65536), p.whole, p.parts)) e
                ORDER BY e.created_at DESC, e.id LIMIT $3
                "#,
                tenant.as_str(),
                id,
                limit,
                now,
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(Listed {
        total: rows.first().map_or(0, |row| row.total),
        rows: rows
            .into_iter()
            .map(|row| Mention { id: row.id, content: row.content, created_at: row.created_at })
            .collect(),
    })
}

/// Another entity, and why it is shown beside this one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelatedEntity {
    pub id: Uuid,
    pub canonical_name: String,
    pub entity_type: String,
    /// Episodes that both were learned from.
    pub shared_episodes: i64,
}

/// Entities with facts from the same episodes, most shared first, with the names that they had at `as_of`.
pub async fn related(
    session: &mut Session,
    tenant: &TenantId,
    id: Uuid,
    as_of: Option<Timestamp>,
) -> Result<Vec<RelatedEntity>, StoreError> {
    let mut related = session
        .run(|pg| {
            sqlx::query_as!(
                RelatedEntity,
                r#"
                WITH source AS MATERIALIZED (
                    SELECT DISTINCT l.target_id AS episode FROM facts f
                    JOIN memory_links l ON l.tenant_id = $1 AND l.source_type = 'fact' AND l.source_id = f.id
                         AND l.target_type = 'episode' AND l.relation = 'derived_from'
                    WHERE f.tenant_id = $1 AND f.entity_id = $2
                )
                SELECT e.id, e.canonical_name, e.entity_type, count(DISTINCT source.episode) AS "shared_episodes!"
                FROM source
                JOIN memory_links l ON l.tenant_id = $1 AND l.target_type = 'episode' AND l.target_id = source.episode
                     AND l.source_type = 'fact' AND l.relation = 'derived_from'
                JOIN facts f ON f.tenant_id = $1 AND f.id = l.source_id AND f.entity_id <> $2
                JOIN entities e ON e.tenant_id = $1 AND e.id = f.entity_id
                GROUP BY e.id, e.canonical_name, e.entity_type ORDER BY 4 DESC, e.canonical_name, e.id LIMIT $3
                "#,
                tenant.as_str(),
                id,
                RELATED
            )
            .fetch_all(pg)
        })
        .await?;
    if let Some(as_of) = as_of {
        let ids: Vec<Uuid> = related.iter().map(|entity| entity.id).collect();
        let names = names_then(session, tenant, &ids, as_of).await?;
        for entity in &mut related {
            if let Some(name) = names.get(&entity.id) {
                entity.canonical_name.clone_from(name);
            }
        }
    }
    Ok(related)
}

/// A fact that would lose, or lost, to another of the same scope and predicate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    pub loser_id: Uuid,
    pub loser: String,
    pub winner_id: Uuid,
    pub winner: String,
}

/// The facts that the merge at this time superseded. A preview calls it inside its transaction.
pub async fn conflicts(
    session: &mut Session,
    tenant: &TenantId,
    target: Uuid,
    at: Timestamp,
) -> Result<Vec<Conflict>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Conflict,
                r#"
                SELECT l.id AS loser_id, concat_ws(' ', l.predicate || ':', left(l.content, 200)) AS "loser!",
                       w.id AS winner_id, concat_ws(' ', w.predicate || ':', left(w.content, 200)) AS "winner!"
                FROM memory_events v
                JOIN facts l ON l.tenant_id = $1 AND l.id = v.memory_id
                JOIN facts w ON w.tenant_id = $1 AND w.id::text = v.payload ->> 'superseded_by' AND w.entity_id = $2
                WHERE v.tenant_id = $1 AND v.created_at = $3 AND v.event_type = 'fact_superseded'
                ORDER BY l.predicate, l.id
                "#,
                tenant.as_str(),
                target,
                at
            )
            .fetch_all(pg)
        })
        .await
}
