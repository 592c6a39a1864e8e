//! Forgetting a memory: it stays in the database for the record and is never retrieved again.

use butler_domain::{EpisodeId, FactId, MemoryType, RuleId};
use butler_store::forget::{self, ForgetOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forgotten {
    pub memory_type: MemoryType,
    pub id: Uuid,
    /// Always true: it is forgotten now.
    pub forgotten: bool,
    /// Whether this call did it. False if it was forgotten before, which is no error.
    pub changed: bool,
}

impl Memory {
    /// `None`: there is no such memory.
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
