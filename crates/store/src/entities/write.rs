//! Creating and changing an entity, each with its event.

use butler_domain::event::EventType;
use butler_domain::ids::new_id;
use butler_domain::resolve::KEPT_APART;
use butler_domain::{Entity, EntityId, EntityType, TenantId, limits};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;

use super::{Existing, existing, is_tombstone, lock, survivor};
use crate::events::{self, NewEvent, Subject};
use crate::{Constraint, Session, StoreError, WriteContext};

/// An entity to create. Its fields are those of the argument of `create_entity`.
#[derive(Debug, Clone, Serialize)]
pub struct NewEntity {
    /// Ignored if a forgotten entity of this name comes back.
    pub id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub metadata: Map<String, Value>,
}

/// The result of creating an entity. `Exists` wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum CreateOutcome {
    Created(Entity),
    Exists(Existing),
}

/// Creates an entity, in one round trip if the name is new. A forgotten entity of that name and type comes back, with its id.
pub async fn create(write: WriteContext<'_>, new: &NewEntity) -> Result<CreateOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut attempt = 1;
    loop {
        let created = session
            .run(|pg| {
                sqlx::query_scalar!(
                    "SELECT create_entity($1, $2, $3, $4, $5, $6)",
                    tenant.as_str(),
                    origin.actor.as_deref(),
                    origin.request_id.as_deref(),
                    now,
                    new_id(now),
                    Json(new) as _,
                )
                .fetch_one(pg)
            })
            .await;
        let created = match created {
            Err(error) if attempt < ATTEMPTS && error.was_aborted() => {
                attempt += 1;
                continue;
            }
            created => created?,
        };
        if let Some(id) = created {
            let NewEntity { canonical_name, entity_type, aliases, metadata, .. } = new.clone();
            return Ok(CreateOutcome::Created(Entity {
                id: EntityId(id),
                tenant_id: tenant.as_str().to_owned(),
                canonical_name,
                entity_type,
                aliases,
                metadata,
                created_at: now,
                updated_at: now,
            }));
        }
        // If the existing entity was renamed between the two statements, the name is free now.
        if let Some(existing) = existing(session, tenant, &new.canonical_name, new.entity_type).await? {
            return Ok(CreateOutcome::Exists(existing));
        }
    }
}

/// The changes to an entity. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Replaces the name.
    pub canonical_name: Option<String>,
    pub entity_type: Option<EntityType>,
    /// Replaces all aliases.
    pub aliases: Option<Vec<String>>,
    /// Sets these keys and keeps the others.
    pub metadata: Option<Map<String, Value>>,
    /// Keeps the entity apart from another one, or no longer.
    pub kept_apart: Option<KeptApart>,
}

/// Whether the changed entity is kept apart from another one, so that the two are not listed as duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptApart {
    pub from: EntityId,
    pub apart: bool,
}

impl KeptApart {
    /// Adds the id to the list in the metadata or removes it from there.
    fn apply(self, metadata: &mut Map<String, Value>) {
        let from = json!(self.from);
        let mut kept = metadata.get(KEPT_APART).and_then(Value::as_array).cloned().unwrap_or_default();
        if kept.contains(&from) == self.apart {
            return;
        }
        kept.retain(|id| *id != from);
        if self.apart {
            kept.push(from);
        }
        metadata.insert(KEPT_APART.to_owned(), json!(kept));
    }
}

/// The result of changing an entity. All outcomes but `Updated` wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateOutcome {
    Updated(Entity),
    NotFound,
    /// The entity was merged into another one.
    Merged {
        survivor: EntityId,
    },
    /// Another entity of the same type has that name.
    NameTaken {
        entity_type: EntityType,
        existing: Existing,
    },
    /// The list would exceed the limit and be longer than the existing one.
    TooManyAliases {
        most: usize,
    },
    /// The metadata would be this long with the new keys.
    MetadataTooLarge {
        bytes: usize,
    },
}

/// Storing a fact at the same time can deadlock with this change. PostgreSQL aborts one of them, which is then
/// repeated.
const ATTEMPTS: u32 = 5;

/// Changes an entity.
pub async fn update(write: WriteContext<'_>, id: EntityId, changes: &Changes) -> Result<UpdateOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut attempt = 1;
    loop {
        match attempt_update(WriteContext { session, tenant, now, origin }, id, changes).await {
            Err(error) if attempt < ATTEMPTS && error.was_aborted() => attempt += 1,
            outcome => return outcome,
        }
    }
}

async fn attempt_update(write: WriteContext<'_>, id: EntityId, changes: &Changes) -> Result<UpdateOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
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
    after.entity_type = changes.entity_type.unwrap_or(before.entity_type);
    if let Some(aliases) = &changes.aliases {
        let most = limits::ALIASES.max(before.aliases.len());
        if aliases.len() > most {
            return Ok(UpdateOutcome::TooManyAliases { most });
        }
        after.aliases.clone_from(aliases);
    }
    after.metadata.extend(changes.metadata.clone().unwrap_or_default());
    if let Some(change) = changes.kept_apart {
        change.apply(&mut after.metadata);
        if before == (Entity { updated_at: before.updated_at, ..after.clone() }) {
            return Ok(UpdateOutcome::Updated(before));
        }
    }
    let bytes = serde_json::to_string(&after.metadata).map_or(usize::MAX, |json| json.len());
    if after.metadata != before.metadata && bytes > limits::METADATA_BYTES {
        return Ok(UpdateOutcome::MetadataTooLarge { bytes });
    }
    let written = save_with_event(WriteContext { session: &mut tx, tenant, now, origin }, &before, &after).await;
    let committed = match written {
        Ok(()) => tx.commit().await,
        Err(error) => {
            drop(tx);
            Err(error)
        }
    };
    match committed {
        Ok(()) => Ok(UpdateOutcome::Updated(after)),
        Err(error) if error.constraint() == Some(&Constraint::EntityName) => {
            match existing(session, tenant, &after.canonical_name, after.entity_type).await? {
                Some(existing) => Ok(UpdateOutcome::NameTaken { entity_type: after.entity_type, existing }),
                // The other entity has been renamed meanwhile, so the caller may try again.
                None => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

async fn save_with_event(write: WriteContext<'_>, before: &Entity, after: &Entity) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    save(session, tenant, after).await?;
    let about = Subject { memory_type: "entity", memory_id: after.id.0 };
    let event =
        NewEvent { event_type: EventType::EntityUpdated, about: Some(about), payload: difference(before, after) };
    events::record(WriteContext { session, tenant, now, origin }, &[event]).await?;
    link_named_facts(WriteContext { session, tenant, now, origin }, after.id).await?;
    let names = |entity: &Entity| [std::slice::from_ref(&entity.canonical_name), &entity.aliases].concat();
    let kept = names(after);
    let freed: Vec<String> = names(before).into_iter().filter(|name| !kept.contains(name)).collect();
    if !freed.is_empty() {
        link_freed_names(WriteContext { session, tenant, now, origin }, &freed).await?;
    }
    Ok(())
}

/// Links the facts that name the only entity left with one of these names.
async fn link_freed_names(write: WriteContext<'_>, names: &[String]) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM link_freed_names($1, $2, $3, $4, $5)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                names,
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The entities that active facts without one name, as their subject or object.
pub async fn named_by_facts(session: &mut Session, tenant: &TenantId) -> Result<Vec<EntityId>, StoreError> {
    let ids = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                SELECT DISTINCT n.id AS "id!"
                FROM (SELECT DISTINCT folded_name(f.subject) AS name FROM facts f
                      WHERE f.tenant_id = $1 AND f.entity_id IS NULL AND f.validity = 'active'
                      UNION
                      SELECT folded_name(f.metadata ->> 'unlinked_object') FROM facts f
                      WHERE f.tenant_id = $1 AND f.object_entity_id IS NULL AND f.validity = 'active' AND f.metadata ? 'unlinked_object') u,
                     LATERAL entities_named($1, u.name) n
                ORDER BY 1
                "#,
                tenant.as_str(),
            )
            .fetch_all(pg)
        })
        .await?;
    Ok(ids.into_iter().map(EntityId).collect())
}

/// Links the facts that name the entity and belong to none, in a transaction of its own. Returns how many.
pub async fn link(write: WriteContext<'_>, id: EntityId) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut attempt = 1;
    loop {
        match link_named_facts(WriteContext { session, tenant, now, origin }, id).await {
            Err(error) if attempt < ATTEMPTS && error.was_aborted() => attempt += 1,
            linked => return linked,
        }
    }
}

/// Links the facts that name the entity and belong to none. Returns how many.
pub(super) async fn link_named_facts(write: WriteContext<'_>, id: EntityId) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let linked = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT link_named_facts($1, $2, $3, $4, $5) AS "linked!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                id.0,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(linked.unsigned_abs())
}

/// Writes every field of an entity that can change.
pub(super) async fn save(session: &mut Session, tenant: &TenantId, entity: &Entity) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "UPDATE entities SET canonical_name = $3, aliases = $4, metadata = $5, updated_at = $6, entity_type = $7
                 WHERE tenant_id = $1 AND id = $2",
                tenant.as_str(),
                entity.id.0,
                entity.canonical_name,
                &entity.aliases,
                Json(&entity.metadata) as _,
                entity.updated_at,
                entity.entity_type.as_str(),
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The fields that changed, with their old and new values.
pub(super) fn difference(before: &Entity, after: &Entity) -> Value {
    let (mut old, mut new) = (Map::new(), Map::new());
    let mut note = |field: &str, was: Value, is: Value| {
        if was != is {
            old.insert(field.to_owned(), was);
            new.insert(field.to_owned(), is);
        }
    };
    note("canonical_name", json!(before.canonical_name), json!(after.canonical_name));
    note("entity_type", json!(before.entity_type), json!(after.entity_type));
    note("aliases", json!(before.aliases), json!(after.aliases));
    note("metadata", json!(before.metadata), json!(after.metadata));
    json!({ "before": old, "after": new })
}
