//! Entities: stable identities for the people and things that facts are about. Names resolve to ranked candidates, and
//! duplicates can be merged without losing a fact.

mod duplicates;
mod forget;
mod merge;
mod names;
mod neighbors;
mod owner;
mod resolve;
mod unmerge;

use butler_domain::resolve::{FORGOTTEN_AT, MERGED_INTO};
use butler_domain::validate::Invalid;
use butler_domain::{Entity, EntityId, EntityType, limits};
use butler_store::entities::{self, Changes, CreateOutcome, Existing, FoundEntity, NewEntity, UpdateOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Call, Memory, MemoryError};

pub use butler_store::entities::{ForgetEntity, Neighborhood, Neighbors};
pub use duplicates::{Duplicate, DuplicatePair, DuplicatePairs, PairedEntity};
pub use forget::{EntityForgotten, Mention, MentionTotals, Mentions};
pub use merge::{MergePreview, MergedEntities};
pub use names::{aliases, name};
pub use resolve::{ResolveInput, Resolved};
pub use unmerge::UnmergedEntities;

/// The validated fields of an entity.
#[derive(Debug, Clone)]
pub struct EntityInput {
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub metadata: Map<String, Value>,
}

/// The validated changes to an entity. `None` keeps the value.
#[derive(Debug, Clone, Default)]
pub struct EntityChanges {
    pub canonical_name: Option<String>,
    pub entity_type: Option<EntityType>,
    /// Replaces all aliases.
    pub aliases: Option<Vec<String>>,
    /// These keys are merged into the existing metadata.
    pub metadata: Option<Map<String, Value>>,
}

/// An entity as tools and the REST API return it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EntityView {
    /// The same as `id`, under the name that other tools use for it.
    pub entity_id: EntityId,
    #[serde(flatten)]
    pub entity: Entity,
    /// The entity to use instead, after all merges. Null if it was never merged.
    pub merged_into: Option<EntityId>,
    pub merged_into_name: Option<String>,
}

impl From<FoundEntity> for EntityView {
    fn from(found: FoundEntity) -> Self {
        let (merged_into, merged_into_name) =
            found.survivor.map_or((None, None), |survivor| (Some(survivor.id), Some(survivor.canonical_name)));
        Self { entity_id: found.entity.id, entity: found.entity, merged_into, merged_into_name }
    }
}

impl From<Entity> for EntityView {
    fn from(entity: Entity) -> Self {
        FoundEntity { entity, survivor: None }.into()
    }
}

impl Memory {
    /// Creates an entity. Its canonical name must be unique within the type.
    pub async fn create_entity(&self, call: &Call, input: EntityInput) -> Result<EntityView, MemoryError> {
        reject_tombstone_keys(&input.metadata)?;
        let new = NewEntity {
            id: EntityId::new(call.now),
            canonical_name: input.canonical_name,
            entity_type: input.entity_type,
            aliases: input.aliases,
            metadata: input.metadata,
        };
        let mut conn = self.db().tenant(&call.tenant).await?;
        match entities::create(call.write(&mut conn), &new).await? {
            CreateOutcome::Created(entity) => Ok(entity.into()),
            CreateOutcome::Exists(existing) => Err(name_taken(&new.canonical_name, new.entity_type, existing)),
        }
    }

    /// Returns the entity, or `None` if it does not exist. Reads from the primary, because callers decide by the result
    /// what to write next.
    pub async fn get_entity(&self, call: &Call, id: EntityId) -> Result<Option<EntityView>, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        Ok(entities::get(&mut conn, &call.tenant, id).await?.map(EntityView::from))
    }

    /// Updates an entity. At least one field must change.
    pub async fn update_entity(
        &self,
        call: &Call,
        id: EntityId,
        changes: EntityChanges,
    ) -> Result<EntityView, MemoryError> {
        let EntityChanges { canonical_name, entity_type, aliases, metadata } = changes;
        if canonical_name.is_none() && entity_type.is_none() && aliases.is_none() && metadata.is_none() {
            let invalid = Invalid::new("arguments", "contain no change");
            return Err(invalid.hint("give canonical_name, entity_type, aliases or metadata").into());
        }
        metadata.as_ref().map_or(Ok(()), reject_tombstone_keys)?;
        self.change_entity(call, id, Changes { canonical_name, entity_type, aliases, metadata, kept_apart: None }).await
    }

    async fn change_entity(&self, call: &Call, id: EntityId, changes: Changes) -> Result<EntityView, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        match entities::update(call.write(&mut conn), id, &changes).await? {
            UpdateOutcome::Updated(entity) => Ok(entity.into()),
            UpdateOutcome::NotFound => Err(MemoryError::NoEntity { id }),
            UpdateOutcome::Merged { survivor } => Err(merged("entity", id, survivor)),
            UpdateOutcome::NameTaken { entity_type, existing } => {
                Err(name_taken(&changes.canonical_name.unwrap_or_default(), entity_type, existing))
            }
            UpdateOutcome::TooManyAliases { most } => {
                let given = changes.aliases.map_or(0, |aliases| aliases.len());
                let message = format!("has {given} items; at most {most} are allowed");
                Err(Invalid::new("aliases", message).into())
            }
            UpdateOutcome::MetadataTooLarge { bytes } => {
                let message = format!("would be {bytes} bytes of JSON; at most {} are allowed", limits::METADATA_BYTES);
                Err(Invalid::new("metadata", message).hint("store the information as facts about the entity").into())
            }
        }
    }
}

/// Rejects the keys of tombstones, which only a merge and `entity_forget` may set.
fn reject_tombstone_keys(metadata: &Map<String, Value>) -> Result<(), Invalid> {
    if metadata.contains_key(FORGOTTEN_AT) {
        let field = format!("metadata.{FORGOTTEN_AT}");
        return Err(
            Invalid::new(field, "is reserved for forgotten entities").hint("forget entities with entity_forget")
        );
    }
    if metadata.contains_key(MERGED_INTO) {
        let field = format!("metadata.{MERGED_INTO}");
        return Err(Invalid::new(field, "is reserved for merged entities").hint("merge entities with entity_merge"));
    }
    Ok(())
}

fn name_taken(name: &str, entity_type: EntityType, existing: Existing) -> MemoryError {
    let Existing { id, survivor } = existing;
    let exists = format!("{} {entity_type} named {name:?} already exists", article(entity_type));
    if survivor == id {
        MemoryError::Conflict { message: format!("{exists}: {id}"), hint: format!("use {id}, or another name") }
    } else {
        MemoryError::Conflict {
            message: format!("{exists}: {id}, which was merged into {survivor}"),
            hint: format!("use {survivor}, or another name"),
        }
    }
}

fn article(entity_type: EntityType) -> &'static str {
    match entity_type {
        EntityType::Organization | EntityType::Other => "an",
        EntityType::Person | EntityType::Place => "a",
    }
}

fn merged(which: &str, id: EntityId, survivor: EntityId) -> MemoryError {
    MemoryError::InvalidState {
        message: format!("{which} {id} was merged into {survivor}"),
        hint: format!("use {survivor}"),
    }
}
