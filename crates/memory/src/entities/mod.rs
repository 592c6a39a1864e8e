//! Entities: "Chloe" is a person, not a string. Facts hang on stable entities; names resolve to ranked candidates;
//! duplicates merge without losing a fact.

mod merge;
mod names;
mod resolve;

use butler_domain::resolve::MERGED_INTO;
use butler_domain::validate::Invalid;
use butler_domain::{Entity, EntityId, EntityType, limits};
use butler_store::entities::{self, Changes, CreateOutcome, Existing, FoundEntity, NewEntity, UpdateOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Call, Memory, MemoryError};

pub use merge::{MergePreview, MergedEntities};
pub(crate) use names::{aliases, name};
pub use resolve::{ResolveInput, Resolved};

/// An entity whose fields were validated.
#[derive(Debug, Clone)]
pub struct EntityInput {
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub metadata: Map<String, Value>,
}

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct EntityChanges {
    pub canonical_name: Option<String>,
    /// Replaces all aliases.
    pub aliases: Option<Vec<String>>,
    /// Its keys are merged into what is there.
    pub metadata: Option<Map<String, Value>>,
}

/// An entity as tools and REST show it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EntityView {
    /// The same as `id`, under the name other tools take it by.
    pub entity_id: EntityId,
    #[serde(flatten)]
    pub entity: Entity,
    /// The id to use instead, where it lives on at the end of however many merges. Null if it was never merged.
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
    pub async fn create_entity(&self, call: &Call, input: EntityInput) -> Result<EntityView, MemoryError> {
        unmarked(&input.metadata)?;
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

    /// `None`: there is no such entity. Asked of the primary, since callers decide by it what to write next.
    pub async fn get_entity(&self, call: &Call, id: EntityId) -> Result<Option<EntityView>, MemoryError> {
        let mut conn = self.db().relaxed(&call.tenant).await?;
        Ok(entities::get(&mut conn, &call.tenant, id).await?.map(EntityView::from))
    }

    pub async fn update_entity(
        &self,
        call: &Call,
        id: EntityId,
        changes: EntityChanges,
    ) -> Result<EntityView, MemoryError> {
        let EntityChanges { canonical_name, aliases, metadata } = changes;
        if canonical_name.is_none() && aliases.is_none() && metadata.is_none() {
            let invalid = Invalid::new("arguments", "say nothing to change");
            return Err(invalid.hint("give canonical_name, aliases or metadata").into());
        }
        metadata.as_ref().map_or(Ok(()), unmarked)?;
        let changes = Changes { canonical_name, aliases, metadata };
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
                Err(Invalid::new("metadata", message).hint("store what is known about it as facts").into())
            }
        }
    }
}

/// The mark of a tombstone is set by merging alone.
fn unmarked(metadata: &Map<String, Value>) -> Result<(), Invalid> {
    if metadata.contains_key(MERGED_INTO) {
        let field = format!("metadata.{MERGED_INTO}");
        return Err(Invalid::new(field, "is the mark of a merged entity").hint("entity_merge merges entities"));
    }
    Ok(())
}

fn name_taken(name: &str, entity_type: EntityType, existing: Existing) -> MemoryError {
    let Existing { id, survivor } = existing;
    let exists = format!("{} {entity_type} named {name:?} exists", article(entity_type));
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
