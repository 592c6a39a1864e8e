//! Confirms a memory: it still holds, so its decay restarts.

use butler_domain::validate::Invalid;
use butler_domain::{FactId, MemoryType, RuleId, Timestamp};
use butler_store::confirm::{self, ConfirmOutcome};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// The state of a memory after its confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Confirmed {
    pub memory_type: MemoryType,
    pub id: Uuid,
    pub last_confirmed_at: Timestamp,
    /// The confidence now. It equals the stored confidence, because decay restarts.
    pub effective_confidence: f64,
    /// Whether it was fading, that is, close to expiry.
    pub was_fading: bool,
}

impl Memory {
    /// Confirms a fact or rule. Returns `None` if it does not exist.
    pub async fn confirm(
        &self,
        call: &Call,
        memory_type: MemoryType,
        id: Uuid,
    ) -> Result<Option<Confirmed>, MemoryError> {
        if memory_type == MemoryType::Episode {
            let invalid = Invalid::new("memory_type", "an episode cannot be confirmed, because it does not decay")
                .hint("store what it proves with memory_store_fact");
            return Err(invalid.into());
        }
        let mut conn = self.db().tenant(&call.tenant).await?;
        let outcome = if memory_type == MemoryType::Fact {
            confirm::fact(call.write(&mut conn), FactId(id), &[]).await?
        } else {
            confirm::rule(call.write(&mut conn), RuleId(id), &[]).await?
        };
        match outcome {
            None => Ok(None),
            Some(ConfirmOutcome::Confirmed { confidence, was_fading }) => Ok(Some(Confirmed {
                memory_type,
                id,
                last_confirmed_at: call.now,
                effective_confidence: confidence,
                was_fading,
            })),
            Some(ConfirmOutcome::NotActive { state }) => {
                Err(MemoryError::Gone { memory_type, id, state: state.to_string(), done: "confirmed" })
            }
        }
    }
}
