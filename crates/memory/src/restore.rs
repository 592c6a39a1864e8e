//! Undo: restores forgotten, expired and superseded memories.

use butler_domain::{FactId, MemoryType, RuleId, Timestamp};
use butler_store::restore::{self, RestoreOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// The outcome of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Restored {
    pub id: Uuid,
    /// The newer version that was retracted in exchange.
    pub retracted_id: Option<Uuid>,
    /// Whether this call changed anything. False if there was nothing to undo, which is not an error.
    pub changed: bool,
}

impl Memory {
    /// Makes a retracted, expired or superseded fact active again. The fact that superseded it is retracted. It is an
    /// error if another fact has the same key by now. Returns `None` if the fact does not exist.
    pub async fn restore_fact(&self, call: &Call, id: FactId) -> Result<Option<Restored>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let expiry = self.config().confidence.expiry_threshold;
        let outcome = restore::fact(call.write(&mut conn), id, expiry).await?;
        let done = |retracted: Option<FactId>, changed| {
            Ok(Some(Restored { id: id.0, retracted_id: retracted.map(|id| id.0), changed }))
        };
        match outcome {
            None => Ok(None),
            Some(RestoreOutcome::AlreadyActive) => done(None, false),
            Some(RestoreOutcome::Restored { retracted }) => done(retracted, true),
            Some(RestoreOutcome::KeyTaken { by }) => Err(key_taken(by)),
        }
    }

    /// Restores a forgotten rule, or reverts the last edit of a rule together with its maturity and counts. Returns
    /// `None` if the rule does not exist.
    pub async fn restore_rule(&self, call: &Call, id: RuleId) -> Result<Option<Restored>, MemoryError> {
        let expiry = self.config().confidence.expiry_threshold;
        let restored = {
            let mut conn = self.db().tenant(&call.tenant).await?;
            restore::rule(call.write(&mut conn), id, expiry).await?
        };
        let changed = match restored {
            None => return Ok(None),
            Some(true) => true,
            Some(false) => self.revert_rule_edit(call, id).await?.is_some(),
        };
        Ok(Some(Restored { id: id.0, retracted_id: None, changed }))
    }

    /// Undoes the caller's last confirmation of a fact or rule, or mark of a rule, if it was made at `made_at`. Fails
    /// if anything else happened to the memory since. Returns `None` if the memory does not exist.
    pub async fn undo_feedback(
        &self,
        call: &Call,
        memory_type: MemoryType,
        id: Uuid,
        made_at: Option<Timestamp>,
    ) -> Result<Option<Restored>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        match restore::undo_feedback(call.write(&mut conn), memory_type, id, made_at).await? {
            None => Ok(None),
            Some(true) => Ok(Some(Restored { id, retracted_id: None, changed: true })),
            Some(false) => Err(MemoryError::InvalidState {
                message: format!("the last change of {memory_type} {id} is not your confirmation or mark"),
                hint: "only the latest change is undone, by who made it; restore undoes forgetting and editing"
                    .to_owned(),
            }),
        }
    }
}

pub(crate) fn key_taken(by: FactId) -> MemoryError {
    MemoryError::Conflict {
        message: format!("fact {by} is active for the same subject, predicate and scope"),
        hint: format!("forget {by} first, or edit it"),
    }
}
