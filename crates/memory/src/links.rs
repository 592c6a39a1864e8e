//! Links between memories, such as `derived_from`, `supports` and `contradicts`.

use butler_domain::Relation;
use butler_domain::validate::Invalid;
use butler_store::links::{self, Direction, End, FoundLink, LinkOutcome};

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// Links two memories of the tenant. Linking them again is not an error; the outcome names the existing relation.
    pub async fn create_link(
        &self,
        call: &Call,
        source: End,
        target: End,
        relation: Relation,
    ) -> Result<LinkOutcome, MemoryError> {
        if source == target {
            return Err(Invalid::new("target_id", "a memory cannot be linked to itself").into());
        }
        let mut conn = self.db().tenant(&call.tenant).await?;
        let outcome = links::create(call.write(&mut conn), source, target, relation).await?;
        match outcome {
            LinkOutcome::NoSource => Err(MemoryError::NotFound { memory_type: source.memory_type, id: source.id }),
            LinkOutcome::NoTarget => Err(MemoryError::NotFound { memory_type: target.memory_type, id: target.id }),
            outcome => Ok(outcome),
        }
    }

    // The specification names this function. Tools and the REST API do not need it.
    /// The links of a memory in the given direction.
    pub async fn get_links(
        &self,
        call: &Call,
        memory: End,
        direction: Direction,
    ) -> Result<Vec<FoundLink>, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(links::of(&mut conn, &call.tenant, memory, direction).await?)
    }
}
