//! Creating and changing an entity, each with its event.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{Entity, EntityId, EntityType, TenantId, Timestamp, limits};
use serde_json::{Map, Value, json};
use sqlx::types::Json;

use super::{EntityRow, Existing, existing, is_tombstone, lock, survivor};
use crate::events::{self, NewEvent, Subject};
use crate::{Constraint, Session, StoreError, Tx};

#[derive(Debug, Clone)]
pub struct NewEntity {
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub metadata: Map<String, Value>,
}

/// All but `Created` wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum CreateOutcome {
    Created(Entity),
    Exists(Existing),
}

/// One statement when the name is new: the entity and its event.
pub async fn create(
    session: &mut Session,
    tenant: &TenantId,
    new: &NewEntity,
    now: Timestamp,
    origin: &Origin,
) -> Result<CreateOutcome, StoreError> {
    loop {
        if let Some(entity) = insert(session, tenant, new, now, origin).await? {
            return Ok(CreateOutcome::Created(entity));
        }
        // it may have been renamed between the two statements; then the name is free
        if let Some(existing) = existing(session, tenant, &new.canonical_name, new.entity_type).await? {
            return Ok(CreateOutcome::Exists(existing));
        }
    }
}

async fn insert(
    session: &mut Session,
    tenant: &TenantId,
    new: &NewEntity,
    now: Timestamp,
    origin: &Origin,
) -> Result<Option<Entity>, StoreError> {
    let after = json!({ "after": {
        "canonical_name": new.canonical_name,
        "entity_type": new.entity_type,
        "aliases": new.aliases,
        "metadata": new.metadata,
    }});
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                EntityRow,
                "WITH entity AS (
                     INSERT INTO entities (tenant_id, id, canonical_name, entity_type, aliases, metadata, created_at, updated_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
                     ON CONFLICT ON CONSTRAINT entities_unique_name DO NOTHING
                     RETURNING id, tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at
                 ), event AS (
                     INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                     SELECT $1, $8, $9, $10, 'entity', entity.id, $11, $12, $7 FROM entity
                 )
                 SELECT id, tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at FROM entity",
                tenant.as_str(),
                new.id.0,
                new.canonical_name,
                new.entity_type.as_str(),
                &new.aliases,
                Json(&new.metadata) as _,
                now,
                new_id(now),
                EventType::EntityCreated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                after,
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(Entity::try_from).transpose()
}

/// `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Replaces the name.
    pub canonical_name: Option<String>,
    /// Replaces all aliases.
    pub aliases: Option<Vec<String>>,
    /// Its keys are set, others stay.
    pub metadata: Option<Map<String, Value>>,
}

/// All but `Updated` wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateOutcome {
    Updated(Entity),
    NotFound,
    /// The entity lives on in another one.
    Merged {
        survivor: EntityId,
    },
    /// Another entity of the same type has that name.
    NameTaken {
        entity_type: EntityType,
        existing: Existing,
    },
    /// More than a list may hold, and more than it has already.
    TooManyAliases {
        most: usize,
    },
    /// With the new keys the metadata would be this long.
    MetadataTooLarge {
        bytes: usize,
    },
}

pub async fn update(
    session: &mut Session,
    tenant: &TenantId,
    id: EntityId,
    changes: &Changes,
    now: Timestamp,
    origin: &Origin,
) -> Result<UpdateOutcome, StoreError> {
    let mut tx = session.begin().await?;
    let Some(before) = lock(&mut tx, tenant, &[id]).await?.pop() else { return Ok(UpdateOutcome::NotFound) };
    if is_tombstone(&before) {
        let survivor = survivor(&mut tx, tenant, id).await?.unwrap_or(id);
        return Ok(UpdateOutcome::Merged { survivor });
    }
    let mut after = before.clone();
    after.updated_at = now;
    if let Some(name) = &changes.canonical_name {
        after.canonical_name.clone_from(name);
    }
    if let Some(aliases) = &changes.aliases {
        let most = limits::ALIASES.max(before.aliases.len());
        if aliases.len() > most {
            return Ok(UpdateOutcome::TooManyAliases { most });
        }
        after.aliases.clone_from(aliases);
    }
    after.metadata.extend(changes.metadata.clone().unwrap_or_default());
    let bytes = serde_json::to_string(&after.metadata).map_or(usize::MAX, |json| json.len());
    if changes.metadata.is_some() && bytes > limits::METADATA_BYTES {
        return Ok(UpdateOutcome::MetadataTooLarge { bytes });
    }
    let written = write(tx, tenant, &before, &after, origin).await;
    match written {
        Ok(()) => Ok(UpdateOutcome::Updated(after)),
        Err(error) if error.constraint() == Some(&Constraint::EntityName) => {
            match existing(session, tenant, &after.canonical_name, after.entity_type).await? {
                Some(existing) => Ok(UpdateOutcome::NameTaken { entity_type: after.entity_type, existing }),
                // whoever had the name gave it up a moment ago; the caller may try again
                None => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

async fn write(
    mut tx: Tx<'_>,
    tenant: &TenantId,
    before: &Entity,
    after: &Entity,
    origin: &Origin,
) -> Result<(), StoreError> {
    save(&mut tx, tenant, after).await?;
    let about = Subject { memory_type: "entity", memory_id: after.id.0 };
    let event =
        NewEvent { event_type: EventType::EntityUpdated, about: Some(about), payload: difference(before, after) };
    events::append(&mut tx, tenant, &[event], after.updated_at, origin).await?;
    tx.commit().await
}

/// Writes everything about an entity that can change.
pub(super) async fn save(session: &mut Session, tenant: &TenantId, entity: &Entity) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "UPDATE entities SET canonical_name = $3, aliases = $4, metadata = $5, updated_at = $6
                 WHERE tenant_id = $1 AND id = $2",
                tenant.as_str(),
                entity.id.0,
                entity.canonical_name,
                &entity.aliases,
                Json(&entity.metadata) as _,
                entity.updated_at
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The fields that changed, as they were and as they are.
pub(super) fn difference(before: &Entity, after: &Entity) -> Value {
    let (mut old, mut new) = (Map::new(), Map::new());
    let mut note = |field: &str, was: Value, is: Value| {
        if was != is {
            old.insert(field.to_owned(), was);
            new.insert(field.to_owned(), is);
        }
    };
    note("canonical_name", json!(before.canonical_name), json!(after.canonical_name));
    note("aliases", json!(before.aliases), json!(after.aliases));
    note("metadata", json!(before.metadata), json!(after.metadata));
    json!({ "before": old, "after": new })
}
