//! How much is remembered, and in which state.

use butler_domain::Scope;
use butler_store::stats::Stats;

use crate::{Call, Memory, MemoryError};

impl Memory {
    pub async fn stats(&self, call: &Call, scope: Option<&Scope>) -> Result<Stats, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(butler_store::stats::read(&mut conn, &call.tenant, scope, call.now).await?)
    }
}
