use butler_domain::Timestamp;
use butler_store::browse::events;

use super::{Browse, EventFilter, EventItem, Listed, LiveEvent, Page};
use crate::MemoryError;

impl Browse<'_> {
    /// One page of the audit events that match the filter, newest first.
    pub async fn events(&self, filter: &EventFilter, page: Page) -> Result<Listed<EventItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(events::list(&mut session, self.tenant, filter, page).await?)
    }

    /// At most `limit` events at or after `from`, for clients that follow changes.
    pub async fn events_since(&self, from: Timestamp, limit: i64) -> Result<Vec<LiveEvent>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(events::since(&mut session, self.tenant, from, limit).await?)
    }
}
