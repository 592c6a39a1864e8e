use butler_store::injections;

use super::{Browse, Injection, InjectionFilter, Listed, Page};
use crate::MemoryError;

impl Browse<'_> {
    /// One page of the calls that gave memories to agents, newest first. Reads from the primary, so that it shows the calls
    /// that were answered just now.
    pub async fn injections(&self, filter: &InjectionFilter, page: Page) -> Result<Listed<Injection>, MemoryError> {
        let mut session = self.memory.db().relaxed(self.tenant).await?;
        Ok(injections::list(&mut session, self.tenant, filter, page, self.now).await?)
    }
}
