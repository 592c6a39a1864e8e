//! Forgets a memory: it stays in the database for the record but is never retrieved again.

use butler_domain::{EpisodeId, FactId, MemoryType, RuleId};
use butler_store::forget::{self, ForgetOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// The outcome of a forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forgotten {
    pub memory_type: MemoryType,
    pub id: Uuid,
    /// Always true.
    pub forgotten: bool,
    /// Whether this call forgot it. False if it was forgotten before, which is not an error.
    pub changed: bool,
    /// The earlier version of a fact, if the forgotten one was the newest. It stays superseded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_id: Option<FactId>,
    /// What becomes of the earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
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
        let only = |outcome| (outcome, None);
        let outcome = match memory_type {
            MemoryType::Fact => forget::fact(write, FactId(id)).await?,
            MemoryType::Rule => forget::rule(write, RuleId(id)).await?.map(only),
            MemoryType::Episode => forget::episode(write, EpisodeId(id)).await?.map(only),
        };
        Ok(outcome.map(|(outcome, previous_id)| Forgotten {
            memory_type,
            id,
            forgotten: true,
            changed: outcome == ForgetOutcome::Forgotten,
            previous_id,
            note: previous_id.map(previous_note),
        }))
    }
}

fn previous_note(id: FactId) -> String {
    format!(
        "nothing is known about this subject and predicate now: the version before, {id}, stays superseded and is not \
         returned either. If it is true again, store it again, or restore it in the dashboard or with `butler restore`"
    )
}
