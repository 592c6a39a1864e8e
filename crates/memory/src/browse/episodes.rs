use butler_domain::MemoryType;
use butler_store::browse::{episodes, events, links};
use uuid::Uuid;

use super::{Browse, EpisodeFilter, EpisodeItem, EventItem, LinkItem, Listed, Page};
use crate::MemoryError;

/// An episode with everything that is linked to it.
#[derive(Debug, Clone)]
pub struct EpisodeRecord {
    pub episode: EpisodeItem,
    pub links: Vec<LinkItem>,
    /// Audit events, newest first.
    pub events: Vec<EventItem>,
}

impl Browse<'_> {
    /// One page of the episodes that match the filter, newest first.
    pub async fn episodes(&self, filter: &EpisodeFilter, page: Page) -> Result<Listed<EpisodeItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(episodes::list(&mut session, self.tenant, filter, page, self.now).await?)
    }

    /// One episode; `None` if the tenant has no episode with this id.
    pub async fn episode(&self, id: Uuid) -> Result<Option<EpisodeRecord>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let Some(episode) = episodes::one(&mut session, self.tenant, id, self.now).await? else { return Ok(None) };
        Ok(Some(EpisodeRecord {
            episode,
            links: links::of(&mut session, self.tenant, MemoryType::Episode, id).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
        }))
    }
}
