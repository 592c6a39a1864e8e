//! Two entities are one.

use butler_domain::validate::Invalid;
use butler_domain::{EntityId, limits};
use butler_store::browse::entities::Conflict;
use butler_store::entities::{self, MergeOutcome, Merged};
use schemars::JsonSchema;
use serde::Serialize;

use super::merged;
use crate::{Call, Memory, MemoryError};

/// What a merge did; its event says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergedEntities {
    /// It is a tombstone now, and names the target.
    pub source_entity_id: EntityId,
    /// It lives on.
    pub target_entity_id: EntityId,
    /// Facts that now hang on the target, whatever their validity.
    pub facts_repointed: u64,
    /// Facts that lost to a more confident one of the same scope and predicate.
    pub facts_superseded: u64,
    /// Names the target did not have before.
    pub aliases_added: u64,
}

impl From<Merged> for MergedEntities {
    fn from(done: Merged) -> Self {
        Self {
            source_entity_id: done.source_entity_id,
            target_entity_id: done.target_entity_id,
            facts_repointed: done.facts_repointed,
            facts_superseded: done.facts_superseded,
            aliases_added: done.aliases_added,
        }
    }
}

/// What a merge does, or would do, for a person to look at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergePreview {
    #[serde(flatten)]
    pub merged: MergedEntities,
    /// Nothing was changed.
    pub preview: bool,
    /// All names of the target afterwards.
    pub canonical_name: String,
    pub aliases: Vec<String>,
    /// Facts that lose to one of the same scope and predicate.
    pub conflicts: Vec<Conflict>,
}

impl Memory {
    /// Merges, and tells more about it than a tool needs to. A preview is a real merge that is taken back: it cannot
    /// promise what would not happen.
    pub async fn merge_entities_shown(
        &self,
        call: &Call,
        source: EntityId,
        target: EntityId,
        preview: bool,
    ) -> Result<MergePreview, MemoryError> {
        different(source, target)?;
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut tx = conn.begin().await?;
        let outcome = entities::merge(call.write(&mut tx), source, target).await?;
        let merged = outcome_of(source, outcome)?;
        let conflicts = butler_store::browse::entities::conflicts(&mut tx, &call.tenant, target.0, call.now).await?;
        let found = entities::get(&mut tx, &call.tenant, target).await?.ok_or(MemoryError::NoEntity { id: target })?;
        if preview {
            tx.rollback().await?;
        } else {
            tx.commit().await?;
        }
        let (canonical_name, aliases) = (found.entity.canonical_name, found.entity.aliases);
        Ok(MergePreview { merged, preview, canonical_name, aliases, conflicts })
    }

    /// The source becomes the target. A target that was merged itself is an error: no circle can arise.
    pub async fn merge_entities(
        &self,
        call: &Call,
        source: EntityId,
        target: EntityId,
    ) -> Result<MergedEntities, MemoryError> {
        different(source, target)?;
        let mut conn = self.db().tenant(&call.tenant).await?;
        let outcome = entities::merge(call.write(&mut conn), source, target).await?;
        outcome_of(source, outcome)
    }
}

fn different(source: EntityId, target: EntityId) -> Result<(), MemoryError> {
    if source == target {
        let invalid = Invalid::new("target_entity_id", "is the source itself: an entity cannot be merged with itself");
        return Err(invalid.hint("give the id of the duplicate as source_entity_id").into());
    }
    Ok(())
}

fn outcome_of(source: EntityId, outcome: MergeOutcome) -> Result<MergedEntities, MemoryError> {
    match outcome {
        MergeOutcome::Merged(done) => Ok(done.into()),
        MergeOutcome::NotFound(id) => Err(MemoryError::NoEntity { id }),
        MergeOutcome::AlreadyMerged { entity, survivor } => {
            let which = if entity == source { "source entity" } else { "target entity" };
            Err(merged(which, entity, survivor))
        }
        MergeOutcome::TooManyAliases(count) => Err(MemoryError::InvalidState {
            message: format!(
                "together they would have {count} aliases; at most {} are allowed",
                limits::MERGED_ALIASES
            ),
            hint: "entity_update shortens a list of aliases".to_owned(),
        }),
    }
}
