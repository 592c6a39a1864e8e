//! How much is remembered, and in which state.

use domain::Scope;
use store::stats::Stats;

use crate::{Call, Memory, MemoryError};

impl Memory {
    pub async fn stats(&self, call: &Call, scope: Option<&Scope>) -> Result<Stats, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(store::stats::read(&mut conn, &call.tenant, scope, call.now).await?)
    }
}
