use butler_domain::MemoryType;
use butler_domain::times::TimeFilter;
use butler_store::browse::{events, links, rules};
use uuid::Uuid;

use super::best::{Narrowing, only};
use super::{Application, Browse, EventItem, LinkItem, Listed, MOST_BEST, Page, RuleFilter, RuleItem, RuleSort};
use crate::MemoryError;

/// A rule with everything that is linked to it.
#[derive(Debug, Clone)]
pub struct RuleRecord {
    pub rule: RuleItem,
    pub links: Vec<LinkItem>,
    /// Helpful and harmful marks, newest first.
    pub applications: Vec<Application>,
    /// Audit events, newest first.
    pub events: Vec<EventItem>,
}

impl Browse<'_> {
    /// One page of the rules that match the filter.
    pub async fn rules(&self, filter: &RuleFilter, page: Page) -> Result<Listed<RuleItem>, MemoryError> {
        let Some(words) = filter.words.as_deref().filter(|_| filter.sort == RuleSort::Best && filter.is_searchable())
        else {
            let mut session = self.memory.db().reader(self.tenant).await?;
            return Ok(rules::list(&mut session, self.tenant, filter, page, self.now).await?);
        };
        let time_filter = TimeFilter { since: filter.since, until: filter.until, ..TimeFilter::default() };
        let narrowing = Narrowing { scope: only(filter.scopes.as_deref()), is_filtered: filter.is_narrow() };
        let mut best = self.best(MemoryType::Rule, words, narrowing, &time_filter).await?;
        let mut session = self.memory.db().reader(self.tenant).await?;
        let newest = RuleFilter { sort: RuleSort::Newest, ..filter.clone() };
        let most = Page::first(MOST_BEST as i64);
        if filter.is_narrow() {
            let found = RuleFilter { words: None, ids: Some(best.ids()), ..filter.clone() };
            let found = rules::list(&mut session, self.tenant, &found, most, self.now).await?;
            best.keep(found.rows.iter().map(|item| item.rule.id.0));
        }
        let worded = rules::list(&mut session, self.tenant, &newest, most, self.now).await?;
        best.append(worded.rows.iter().map(|item| item.rule.id.0));
        let filter = RuleFilter { words: None, ids: Some(best.ids()), ..filter.clone() };
        let mut listed = rules::list(&mut session, self.tenant, &filter, page, self.now).await?;
        let scores = best.scores();
        for item in &mut listed.rows {
            item.score = scores.get(&item.rule.id.0).copied();
        }
        Ok(listed)
    }

    /// One rule; `None` if the tenant has no rule with this id.
    pub async fn rule(&self, id: Uuid) -> Result<Option<RuleRecord>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        let Some(rule) = rules::one(&mut session, self.tenant, id, self.now).await? else { return Ok(None) };
        Ok(Some(RuleRecord {
            rule,
            links: links::of(&mut session, self.tenant, MemoryType::Rule, id).await?,
            applications: rules::applications(&mut session, self.tenant, id).await?,
            events: events::of_memory(&mut session, self.tenant, id).await?,
        }))
    }

    /// Whether the rule exists. Reads from the primary, because a replica may not have replayed a recent write yet.
    pub async fn has_rule(&self, id: Uuid) -> Result<bool, MemoryError> {
        let mut session = self.memory.db().tenant(self.tenant).await?;
        Ok(rules::one(&mut session, self.tenant, id, self.now).await?.is_some())
    }
}
