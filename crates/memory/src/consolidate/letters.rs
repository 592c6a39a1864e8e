//! Dead letters: episodes whose attempts are used up, for a person to look at and to try again.

use butler_domain::EpisodeId;
use butler_store::browse::{Listed, Page};
use butler_store::consolidation::dead_letters::{self, DeadLetter};

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// Oldest first.
    pub async fn dead_letters(&self, call: &Call, limit: i64) -> Result<Vec<DeadLetter>, MemoryError> {
        Ok(self.dead_letters_page(call, Page::first(limit)).await?.rows)
    }

    /// A page of them, oldest first, and how many there are.
    pub async fn dead_letters_page(&self, call: &Call, page: Page) -> Result<Listed<DeadLetter>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(dead_letters::list(&mut conn, &call.tenant, page).await?)
    }

    /// The named ones, or all. Returns how many wait again.
    pub async fn requeue_dead_letters(&self, call: &Call, episodes: Option<&[EpisodeId]>) -> Result<u64, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(dead_letters::requeue(call.write(&mut conn), episodes).await?)
    }
}
