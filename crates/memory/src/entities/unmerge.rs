//! Undoes a merge of two entities.

use butler_domain::EntityId;
use butler_store::entities::{self, UnmergeOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Memory, MemoryError};

/// What undoing a merge did. Its event records the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnmergedEntities {
    /// The entity that exists in its own right again.
    pub source_entity_id: EntityId,
    /// The entity it had been merged into.
    pub target_entity_id: EntityId,
    /// Facts and relations that are the source's again.
    pub facts_moved: u64,
    /// Facts that the merge had superseded and that are active again.
    pub facts_restored: u64,
    /// Names that the target got by the merge and no longer has.
    pub aliases_removed: u64,
}

impl Memory {
    /// Undoes the merge of this entity into another. What was written since stays with the target, unless its subject is
    /// a name that only the source has.
    pub async fn unmerge_entity(&self, call: &Call, source: EntityId) -> Result<UnmergedEntities, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let state = |message: String, hint: &str| MemoryError::InvalidState { message, hint: hint.to_owned() };
        match entities::unmerge(call.write(&mut conn), source).await? {
            UnmergeOutcome::Unmerged(done) => Ok(UnmergedEntities {
                source_entity_id: done.source_entity_id,
                target_entity_id: done.target_entity_id,
                facts_moved: done.facts_moved,
                facts_restored: done.facts_restored,
                aliases_removed: done.aliases_removed,
            }),
            UnmergeOutcome::NotFound => Err(MemoryError::NoEntity { id: source }),
            UnmergeOutcome::NotMerged => Err(state(
                format!("entity {source} is not merged into another one"),
                "give the id of the entity that was merged away",
            )),
            UnmergeOutcome::NotRecorded => Err(state(
                format!("the merge of entity {source} was not recorded, because it is older than this version"),
                "create the entity again and move its facts by storing them",
            )),
            UnmergeOutcome::TargetMerged { target, survivor } => Err(state(
                format!("entity {source} was merged into {target}, which was then merged into {survivor}"),
                &format!("undo that merge first: {target}"),
            )),
        }
    }
}
