//! Dead letters: episodes that have no attempts left. A person can inspect and requeue them.

use butler_domain::EpisodeId;
use butler_store::browse::{Listed, Page};
use butler_store::consolidation::dead_letters::{self, DeadLetter};

use crate::{Call, Memory, MemoryError};

impl Memory {
    /// The oldest dead letters, at most `limit`.
    pub async fn dead_letters(&self, call: &Call, limit: i64) -> Result<Vec<DeadLetter>, MemoryError> {
        Ok(self.dead_letters_page(call, Page::first(limit)).await?.rows)
    }

    /// A page of dead letters, oldest first, with their total number.
    pub async fn dead_letters_page(&self, call: &Call, page: Page) -> Result<Listed<DeadLetter>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(dead_letters::list(&mut conn, &call.tenant, page).await?)
    }

    /// Requeues the given dead letters, or all, and returns how many there were.
    pub async fn requeue_dead_letters(&self, call: &Call, episodes: Option<&[EpisodeId]>) -> Result<u64, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(dead_letters::requeue(call.write(&mut conn), episodes).await?)
    }
}
