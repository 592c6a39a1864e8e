//! Merges two entities that turn out to be the same.

use butler_domain::validate::Invalid;
use butler_domain::{EntityId, limits};
use butler_store::browse::entities::Conflict;
use butler_store::browse::merges::{self, Contradiction, Profile};
use butler_store::entities::{self, MergeOutcome, Merged};
use schemars::JsonSchema;
use serde::Serialize;

use super::merged;
use crate::{Call, Memory, MemoryError};

/// What a merge did. Its event records the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergedEntities {
    /// The duplicate, now a tombstone that refers to the target.
    pub source_entity_id: EntityId,
    /// The entity that remains.
    pub target_entity_id: EntityId,
    /// Facts that were moved to the target, in any state, and facts that were ambiguous before the merge.
    pub facts_repointed: u64,
    /// Facts superseded by one with higher confidence and the same scope and predicate.
    pub facts_superseded: u64,
    /// Names that the target did not have before.
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

/// What a merge did, or would do, in more detail than [`MergedEntities`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MergePreview {
    #[serde(flatten)]
    pub merged: MergedEntities,
    /// Whether it is only a preview and nothing was changed.
    pub preview: bool,
    /// The name of the target after the merge.
    pub canonical_name: String,
    /// All aliases of the target after the merge.
    pub aliases: Vec<String>,
    /// Facts superseded by one with the same scope and predicate.
    pub conflicts: Vec<Conflict>,
    /// Facts of both with the same predicate and different content.
    pub contradictions: Vec<Contradiction>,
    /// Both entities as they were before.
    pub source: Profile,
    pub target: Profile,
}

impl Memory {
    /// Merges two entities and returns the details. A preview runs the merge and rolls it back, so that it cannot
    /// differ from the real one.
    pub async fn merge_entities_detailed(
        &self,
        call: &Call,
        source: EntityId,
        target: EntityId,
        preview: bool,
    ) -> Result<MergePreview, MemoryError> {
        require_different(source, target)?;
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut tx = conn.begin().await?;
        let contradictions = merges::contradictions(&mut tx, &call.tenant, source, target).await?;
        let profiles = merges::profiles(&mut tx, &call.tenant, [source, target]).await?;
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
        let Ok([source, target]) = <[Profile; 2]>::try_from(profiles) else {
            return Err(MemoryError::NoEntity { id: source });
        };
        Ok(MergePreview { merged, preview, canonical_name, aliases, conflicts, contradictions, source, target })
    }

    /// Merges the source into the target. The target must not be a tombstone itself, so that merges never form a cycle.
    pub async fn merge_entities(
        &self,
        call: &Call,
        source: EntityId,
        target: EntityId,
    ) -> Result<MergedEntities, MemoryError> {
        require_different(source, target)?;
        let mut conn = self.db().tenant(&call.tenant).await?;
        let outcome = entities::merge(call.write(&mut conn), source, target).await?;
        outcome_of(source, outcome)
    }
}

fn require_different(source: EntityId, target: EntityId) -> Result<(), MemoryError> {
    if source == target {
        let invalid =
            Invalid::new("target_entity_id", "is the same as source_entity_id; an entity cannot be merged with itself");
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
                "the merged entity would have {count} aliases; at most {} are allowed",
                limits::MERGED_ALIASES
            ),
            hint: "remove aliases with entity_update first".to_owned(),
        }),
    }
}
