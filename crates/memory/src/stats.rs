//! Counts of memories by type and state.

use butler_domain::Scope;
use butler_store::stats::Stats;

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// Counts the tenant's memories: all of them, or those of a scope and the global ones.
    pub async fn stats(&self, call: &Call, scope: Option<&Scope>) -> Result<Stats, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(butler_store::stats::read(&mut conn, &call.tenant, scope, call.now).await?)
    }
}
