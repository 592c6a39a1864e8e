use butler_domain::{FactId, MemoryType};
use butler_store::browse::{events, facts, links};
use butler_store::times;
use uuid::Uuid;

use super::best::{Narrowing, only};
use super::{Browse, EventItem, FactFilter, FactItem, FactSort, LinkItem, Listed, MOST_BEST, Page, Period, Version};
use crate::MemoryError;

/// A fact with everything that is linked to it.
#[derive(Debug, Clone)]
pub struct FactRecord {
    pub fact: FactItem,
    pub links: Vec<LinkItem>,
    /// All versions of the fact, oldest first.
    pub versions: Vec<Version>,
    /// All facts of its key in the order of time.
    pub timeline: Vec<Period>,
    /// Audit events, newest first.
    pub events: Vec<EventItem>,
}

impl Browse<'_> {
    /// One page of the facts that match the filter.
    pub async fn facts(&self, filter: &FactFilter, page: Page) -> Result<Listed<FactItem>, MemoryError> {
        let Some(words) = filter.words.as_deref().filter(|_| filter.sort == FactSort::Best && filter.is_searchable())
        else {
            let mut session = self.memory.db().reader(self.tenant).await?;
            return Ok(facts::list(&mut session, self.tenant, filter, page, self.now).await?);
        };
        let narrowing = Narrowing { scope: only(filter.scopes.as_deref()), is_filtered: filter.is_narrow() };
        let mut best = self.best(MemoryType::Fact, words, narrowing, &filter.time_filter).await?;
        let mut session = self.memory.db().reader(self.tenant).await?;
        let newest = FactFilter { sort: FactSort::Newest, ..filter.clone() };
        let most = Page::first(MOST_BEST as i64);
        if filter.is_narrow() {
            let found = FactFilter { words: None, ids: Some(best.ids()), ..filter.clone() };
            best.keep(facts::ids(&mut session, self.tenant, &found, most, self.now).await?.0);
        }
        best.append(facts::ids(&mut session, self.tenant, &newest, most, self.now).await?.0);
        let filter = FactFilter { words: None, ids: Some(best.ids()), ..filter.clone() };
        let mut listed = facts::list(&mut session, self.tenant, &filter, page, self.now).await?;
        let scores = best.scores();
        for item in &mut listed.rows {
            item.score = scores.get(&item.fact.id.0).copied();
        }
        Ok(listed)
    }

    /// One fact; `None` if the tenant has no fact with this id.
    pub async fn fact(&self, id: Uuid) -> Result<Option<FactRecord>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let Some(fact) = facts::one(&mut session, self.tenant, id, self.now).await? else { return Ok(None) };
        Ok(Some(FactRecord {
            fact,
            links: links::of(&mut session, self.tenant, MemoryType::Fact, id).await?,
            versions: facts::chain(&mut session, self.tenant, id).await?,
            timeline: times::timeline(&mut session, self.tenant, FactId(id), self.now).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
        }))
    }

    /// Whether the fact exists. Reads from the primary, because a replica may not have replayed a recent write yet.
    pub async fn has_fact(&self, id: Uuid) -> Result<bool, MemoryError> {
        let mut session = self.memory.db().tenant(self.tenant).await?;
        Ok(facts::one(&mut session, self.tenant, id, self.now).await?.is_some())
    }
}
