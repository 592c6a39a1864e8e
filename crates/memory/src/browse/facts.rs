use butler_domain::MemoryType;
use butler_store::browse::{events, facts, links};
use uuid::Uuid;

use super::{Browse, EventItem, FactFilter, FactItem, LinkItem, Listed, Page, Version};
use crate::MemoryError;

/// A fact with everything that is linked to it.
#[derive(Debug, Clone)]
pub struct FactRecord {
    pub fact: FactItem,
    pub links: Vec<LinkItem>,
    /// All versions of the fact, oldest first.
    pub versions: Vec<Version>,
    /// Audit events, newest first.
    pub events: Vec<EventItem>,
}

impl Browse<'_> {
    /// One page of the facts that match the filter.
    pub async fn facts(&self, filter: &FactFilter, page: Page) -> Result<Listed<FactItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(facts::list(&mut session, self.tenant, filter, page, self.now).await?)
    }

    /// One fact; `None` if the tenant has no fact with this id.
    pub async fn fact(&self, id: Uuid) -> Result<Option<FactRecord>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let Some(fact) = facts::one(&mut session, self.tenant, id, self.now).await? else { return Ok(None) };
        Ok(Some(FactRecord {
            fact,
            links: links::of(&mut session, self.tenant, MemoryType::Fact, id).await?,
            versions: facts::chain(&mut session, self.tenant, id).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
        }))
    }

    /// Whether the fact exists. Reads from the primary, because a replica may not have replayed a recent write yet.
    pub async fn has_fact(&self, id: Uuid) -> Result<bool, MemoryError> {
        let mut session = self.memory.db().tenant(self.tenant).await?;
        Ok(facts::one(&mut session, self.tenant, id, self.now).await?.is_some())
    }
}
