use std::collections::HashMap;

use butler_domain::MemoryType;
use butler_domain::fusion::rrf_score;
use butler_domain::times::TimeFilter;
use butler_store::browse::palette;
use uuid::Uuid;

use super::{Browse, FoundKind, PaletteItem};
use crate::MemoryError;
use crate::search::Hit;

/// From this score on, the typed text is the name of the result.
pub const EXACT_NAME: f64 = 1.0;
/// Makes the fused score of the best match about one third, so that it stays below that of an exact name.
const FUSED: f64 = 10.0;

impl Browse<'_> {
    /// Finds facts, rules, episodes and entities by the beginnings of words, at most `limit` of each kind.
    pub async fn palette(&self, words: &str, limit: i32) -> Result<Vec<PaletteItem>, MemoryError> {
        let mut session = self.memory.db().reader(self.tenant).await?;
        Ok(palette::find(&mut session, self.tenant, words, limit, self.now).await?)
    }

    /// Finds facts, rules, episodes and entities by words and by meaning, about `limit` of each kind, best first.
    pub async fn find(&self, words: &str, limit: i32) -> Result<Vec<PaletteItem>, MemoryError> {
        let types = [MemoryType::Fact, MemoryType::Rule, MemoryType::Episode];
        let hits =
            self.related(&types, words, None, usize::try_from(limit).unwrap_or(1), &TimeFilter::default()).await?;
        let mut found = self.palette(words, limit).await?;
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        let by_words: HashMap<Uuid, usize> = found.iter().zip(1..).map(|(item, rank)| (item.id, rank)).collect();
        let by_meaning: HashMap<Uuid, usize> = hits.iter().zip(1..).map(|(hit, rank)| (hit.id, rank)).collect();
        found.extend(hits.into_iter().filter(|hit| !by_words.contains_key(&hit.id)).map(item));
        let last = found.len() + 1;
        for item in &mut found {
            let name = if item.score >= EXACT_NAME { item.score } else { 0.0 };
            let rank = |ranks: &HashMap<Uuid, usize>| ranks.get(&item.id).copied().unwrap_or(last);
            item.score = name + FUSED * rrf_score(rank(&by_meaning), rank(&by_words));
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.created_at.cmp(&a.created_at)));
        Ok(found)
    }
}

fn item(hit: Hit) -> PaletteItem {
    let beginning = |chars: usize| hit.content.chars().take(chars).collect::<String>();
    let title = match (&hit.subject, &hit.predicate) {
        (Some(subject), Some(predicate)) => format!("{subject} {}", predicate.replace('_', " ")),
        _ => beginning(80),
    };
    PaletteItem {
        kind: match hit.memory_type {
            MemoryType::Fact => FoundKind::Fact,
            MemoryType::Rule => FoundKind::Rule,
            MemoryType::Episode => FoundKind::Episode,
        },
        id: hit.id,
        title,
        preview: beginning(160),
        scope: hit.scope.clone().or_else(|| hit.butler.clone()).unwrap_or_default(),
        effective_confidence: hit.effective_confidence,
        maturity: hit.maturity.clone(),
        status: None,
        created_at: hit.created_at,
        // The caller sets the score.
        score: 0.0,
    }
}
