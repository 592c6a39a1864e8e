//! Counts how often memories were returned to callers.

use butler_domain::{MemoryType, TenantId, Timestamp};
use sqlx::types::Json;
use uuid::Uuid;

use crate::injections::Served;
use crate::{Session, StoreError};

/// The memories of a response. Each gets one reference.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Referenced {
    pub facts: Vec<Uuid>,
    pub rules: Vec<Uuid>,
    pub episodes: Vec<Uuid>,
}

impl Referenced {
    /// Whether the response held no memory, so that there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.rules.is_empty() && self.episodes.is_empty()
    }

    /// Adds a memory of the response to those of its type.
    pub fn push(&mut self, kind: MemoryType, id: Uuid) {
        match kind {
            MemoryType::Fact => self.facts.push(id),
            MemoryType::Rule => self.rules.push(id),
            MemoryType::Episode => self.episodes.push(id),
        }
    }
}

/// Counts one reference of each memory and records what was served, in one statement.
pub(crate) async fn count(
    session: &mut Session,
    tenant: &TenantId,
    rows: &Referenced,
    served: Option<&Served>,
    now: Timestamp,
) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM memory_bump($1, $2, $3, $4, $5, $6)",
                tenant.as_str(),
                now,
                &rows.facts,
                &rows.rules,
                &rows.episodes,
                served.map(Json) as _
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}
