//! Entities: who and what facts are about. A merged entity stays as a tombstone that names its survivor.

mod forget;
mod merge;
mod neighbors;
mod resolve;
mod unmerge;
mod write;

use butler_domain::resolve::FORGOTTEN_AT;
use butler_domain::{Entity, EntityId, EntityType, TenantId, Timestamp};
use serde_json::Value;
use uuid::Uuid;

use crate::{Session, StoreError};

pub use forget::{EntityForgetting, ForgetEntity, ForgottenEntity, Trace, TraceKind, forget};
pub use merge::{MergeOutcome, Merged, merge};
pub use neighbors::{Edge, Neighbor, Neighborhood, Neighbors, neighbors};
pub use resolve::{CANDIDATES, EntityMatch, NameQuery, candidates};
pub use unmerge::{UnmergeOutcome, Unmerged, unmerge};
pub use write::{Changes, CreateOutcome, KeptApart, NewEntity, UpdateOutcome, create, link, named_by_facts, update};

/// An entity and, if it was merged, its survivor.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEntity {
    pub entity: Entity,
    pub survivor: Option<Survivor>,
}

/// The entity at the end of a chain of merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    pub id: EntityId,
    pub canonical_name: String,
}

/// The entity with an id. `None`: this tenant has no such entity.
pub async fn get(session: &mut Session, tenant: &TenantId, id: EntityId) -> Result<Option<FoundEntity>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT e.id, e.tenant_id, e.canonical_name, e.entity_type, e.aliases, e.metadata, e.created_at, e.updated_at,
                          s.id AS "survivor_id?", s.canonical_name AS "survivor_name?"
                   FROM entities e
                   LEFT JOIN entities s ON NOT entity_is_live(e.metadata) AND s.tenant_id = $1 AND s.id <> e.id
                        AND s.id = (SELECT entity_survivor($1, $2))
                   WHERE e.tenant_id = $1 AND e.id = $2"#,
                tenant.as_str(),
                id.0
            )
            .fetch_optional(pg)
        })
        .await?;
    let Some(row) = row else { return Ok(None) };
    let survivor = row
        .survivor_id
        .zip(row.survivor_name)
        .map(|(id, canonical_name)| Survivor { id: EntityId(id), canonical_name });
    let entity = EntityRow {
        id: row.id,
        tenant_id: row.tenant_id,
        canonical_name: row.canonical_name,
        entity_type: row.entity_type,
        aliases: row.aliases,
        metadata: row.metadata,
        created_at: row.created_at,
        updated_at: row.updated_at,
    };
    Ok(Some(FoundEntity { entity: entity.try_into()?, survivor }))
}

/// Reads the column `entity_type` of an entity.
pub(crate) fn entity_type(id: Uuid, text: &str) -> Result<EntityType, StoreError> {
    text.parse().map_err(|error: butler_domain::UnknownName| StoreError::BadData {
        table: "entities",
        column: "entity_type",
        id: id.to_string(),
        reason: error.to_string(),
    })
}

/// The live entities that have exactly this name or alias, whatever the case and accents. "me" names the owner.
pub async fn named(session: &mut Session, tenant: &TenantId, name: &str) -> Result<Vec<EntityId>, StoreError> {
    let ids = session
        .run(|pg| {
            sqlx::query_scalar!(r#"SELECT id AS "id!" FROM entities_named($1, $2)"#, tenant.as_str(), name)
                .fetch_all(pg)
        })
        .await?;
    Ok(ids.into_iter().map(EntityId).collect())
}

/// The survivor of an entity after all merges: the entity itself if it was never merged. `None`: there is no such entity.
pub async fn survivor(session: &mut Session, tenant: &TenantId, id: EntityId) -> Result<Option<EntityId>, StoreError> {
    let survivor = session
        .run(|pg| sqlx::query_scalar!("SELECT entity_survivor($1, $2)", tenant.as_str(), id.0).fetch_one(pg))
        .await?;
    Ok(survivor.map(EntityId))
}

/// The entity that already has a name and type, and its survivor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Existing {
    pub id: EntityId,
    pub survivor: EntityId,
}

pub(crate) async fn existing(
    session: &mut Session,
    tenant: &TenantId,
    canonical_name: &str,
    entity_type: EntityType,
) -> Result<Option<Existing>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                "SELECT id, entity_survivor($1, id) AS survivor FROM entities
                 WHERE tenant_id = $1 AND canonical_name = $2 AND entity_type = $3",
                tenant.as_str(),
                canonical_name,
                entity_type.as_str()
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| Existing { id: EntityId(row.id), survivor: EntityId(row.survivor.unwrap_or(row.id)) }))
}

#[derive(Debug)]
pub(crate) struct EntityRow {
    pub id: Uuid,
    pub tenant_id: String,
    pub canonical_name: String,
    pub entity_type: String,
    pub aliases: Vec<String>,
    pub metadata: Value,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

fn bad(id: Uuid, column: &'static str, reason: impl ToString) -> StoreError {
    StoreError::BadData { table: "entities", column, id: id.to_string(), reason: reason.to_string() }
}

impl TryFrom<EntityRow> for Entity {
    type Error = StoreError;

    fn try_from(row: EntityRow) -> Result<Self, StoreError> {
        let Value::Object(metadata) = row.metadata else { return Err(bad(row.id, "metadata", "not an object")) };
        Ok(Self {
            id: EntityId(row.id),
            tenant_id: row.tenant_id,
            canonical_name: row.canonical_name,
            entity_type: row.entity_type.parse().map_err(|error| bad(row.id, "entity_type", error))?,
            aliases: row.aliases,
            metadata,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Reads entities that are not forgotten and locks them until the end of the transaction, in the order of their ids, so that two
/// transactions that lock the same entities cannot deadlock. The lock also keeps others from storing facts about them.
pub(crate) async fn lock(
    session: &mut Session,
    tenant: &TenantId,
    ids: &[EntityId],
) -> Result<Vec<Entity>, StoreError> {
    let mut locked = lock_any(session, tenant, ids).await?;
    locked.retain(|entity| !entity.metadata.contains_key(FORGOTTEN_AT));
    Ok(locked)
}

/// Like [`lock`], but forgotten ones, too.
async fn lock_any(session: &mut Session, tenant: &TenantId, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = session
        .run(|pg| {
            sqlx::query_as!(
                EntityRow,
                "SELECT id, tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at
                 FROM entities WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR UPDATE",
                tenant.as_str(),
                &ids
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter().map(Entity::try_from).collect()
}

/// Whether the entity was merged into another one, which its metadata names.
pub(crate) fn is_tombstone(entity: &Entity) -> bool {
    entity.metadata.get(butler_domain::resolve::MERGED_INTO).is_some_and(|mark| !mark.is_null())
}
