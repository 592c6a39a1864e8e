//! Undo: what was forgotten or replaced comes back.

use butler_domain::{FactId, RuleId};
use butler_store::restore::{self, RestoreOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Restored {
    pub id: Uuid,
    /// The newer version that was taken back for it.
    pub retracted_id: Option<Uuid>,
    /// Whether this call did it. False if there was nothing to undo, which is no error.
    pub changed: bool,
}

impl Memory {
    /// A retracted or expired fact is active again, and a replaced one in place of the one that replaced it, unless
    /// another fact holds its key by now. `None`: there is no such fact.
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
            Some(RestoreOutcome::KeyTaken { by }) => Err(MemoryError::Conflict {
                message: format!("fact {by} is active for the same subject, predicate and scope"),
                hint: format!("forget {by} first, or edit it"),
            }),
        }
    }

    /// A forgotten rule is remembered again; one that was just edited gets its old words and its standing back. `None`:
    /// there is no such rule.
    pub async fn restore_rule(&self, call: &Call, id: RuleId) -> Result<Option<Restored>, MemoryError> {
        let expiry = self.config().confidence.expiry_threshold;
        let remembered = {
            let mut conn = self.db().tenant(&call.tenant).await?;
            restore::rule(call.write(&mut conn), id, expiry).await?
        };
        let changed = match remembered {
            None => return Ok(None),
            Some(true) => true,
            Some(false) => self.unedit_rule(call, id).await?.is_some(),
        };
        Ok(Some(Restored { id: id.0, retracted_id: None, changed }))
    }
}
