use butler_domain::MemoryType;
use butler_domain::times::TimeFilter;
use butler_store::browse::{episodes, events, links};
use uuid::Uuid;

use super::best::Narrowing;
use super::{Browse, EpisodeFilter, EpisodeItem, EpisodeSort, EventItem, LinkItem, Listed, MOST_BEST, Page};
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
    /// One page of the episodes that match the filter.
    pub async fn episodes(&self, filter: &EpisodeFilter, page: Page) -> Result<Listed<EpisodeItem>, MemoryError> {
        let Some(words) = filter.words.as_deref().filter(|_| filter.sort == EpisodeSort::Best) else {
            let mut session = self.memory.db().reader(self.tenant).await?;
            return Ok(episodes::list(&mut session, self.tenant, filter, page, self.now).await?);
        };
        let time_filter = TimeFilter { since: filter.since, until: filter.until, ..TimeFilter::default() };
        let narrowing = Narrowing { scope: filter.butler.as_deref(), is_filtered: filter.is_narrow() };
        let mut best = self.best(MemoryType::Episode, words, narrowing, &time_filter).await?;
        let mut session = self.memory.db().reader(self.tenant).await?;
        let most = Page::first(MOST_BEST as i64);
        if filter.is_narrow() {
            let found = EpisodeFilter { ids: Some(best.ids()), ..filter.clone() };
            let found = episodes::list(&mut session, self.tenant, &found, most, self.now).await?;
            best.keep(found.rows.iter().map(|item| item.episode.id.0));
        }
        let worded = episodes::list(&mut session, self.tenant, filter, most, self.now).await?;
        best.append(worded.rows.iter().map(|item| item.episode.id.0));
        let filter = EpisodeFilter { ids: Some(best.ids()), ..filter.clone() };
        let mut listed = episodes::list(&mut session, self.tenant, &filter, page, self.now).await?;
        let scores = best.scores();
        for item in &mut listed.rows {
            item.score = scores.get(&item.episode.id.0).copied();
        }
        Ok(listed)
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
