//! Forgets a memory: it stays in the database for the record but is never retrieved again.

use butler_domain::{EpisodeId, FactId, MemoryType, RuleId};
use butler_store::forget::{self, ForgetOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// The outcome of a forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forgotten {
    pub memory_type: MemoryType,
    pub id: Uuid,
    /// Always true.
    pub forgotten: bool,
    /// Whether this call forgot it. False if it was forgotten before, which is not an error.
    pub changed: bool,
}

impl Memory {
    /// Forgets a memory. Returns `None` if it does not exist.
    pub async fn forget(
        &self,
        call: &Call,
        memory_type: MemoryType,
        id: Uuid,
    ) -> Result<Option<Forgotten>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let write = call.write(&mut conn);
        let outcome = match memory_type {
            MemoryType::Fact => forget::fact(write, FactId(id)).await?,
            MemoryType::Rule => forget::rule(write, RuleId(id)).await?,
            MemoryType::Episode => forget::episode(write, EpisodeId(id)).await?,
        };
        Ok(outcome.map(|outcome| Forgotten {
            memory_type,
            id,
            forgotten: true,
            changed: outcome == ForgetOutcome::Forgotten,
        }))
    }
}
