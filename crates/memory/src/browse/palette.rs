use butler_store::browse::palette;

use super::{Browse, PaletteItem};
use crate::MemoryError;

impl Browse<'_> {
    /// Finds facts, rules, episodes and entities by the beginnings of words, at most `limit` of each kind.
    pub async fn palette(&self, words: &str, limit: i32) -> Result<Vec<PaletteItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(palette::find(&mut session, self.tenant, words, limit, self.now).await?)
    }
}
