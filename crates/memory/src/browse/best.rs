//! The best matches of a query for a person: by meaning, by words, and by words that are misspelled or lack accents.

use std::collections::{HashMap, HashSet};

use butler_domain::times::TimeFilter;
use butler_domain::{MemoryType, Scope};
use uuid::Uuid;

use super::Browse;
use crate::search::{Hit, Mode, SearchInput};
use crate::{Call, MemoryError};

/// The maximum number of matches in the order `best`. Nobody reads further, and the other orders list every match of
/// the words.
pub const MOST_BEST: usize = 200;
/// How many matches are looked through if a list has filters that a search does not know, such as a tag.
const FILTERED: usize = 1000;
/// The minimum cosine similarity of a memory that lacks words of the query. Unrelated texts rarely reach 0.3.
const RELATED: f64 = 0.4;

/// Matches with their scores, best first.
#[derive(Debug, Default)]
pub(super) struct Best(Vec<(Uuid, f64)>);

/// The filters of a list, as far as they matter to the search behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Narrowing<'a> {
    /// The only scope of the list, or the butler of episodes.
    pub scope: Option<&'a str>,
    /// Whether the list has other filters, too.
    pub is_filtered: bool,
}

impl Best {
    /// Keeps the matches that pass the filters of a list.
    pub fn keep(&mut self, ids: impl IntoIterator<Item = Uuid>) {
        let kept: HashSet<Uuid> = ids.into_iter().collect();
        self.0.retain(|(id, _)| kept.contains(id));
    }

    /// Appends those that are not among the matches yet, with a score below all others.
    pub fn append(&mut self, ids: impl IntoIterator<Item = Uuid>) {
        let mut known: HashSet<Uuid> = self.0.iter().map(|(id, _)| *id).collect();
        self.0.extend(ids.into_iter().filter(|id| known.insert(*id)).map(|id| (id, 0.0)));
        self.0.truncate(MOST_BEST);
    }

    pub fn ids(&self) -> Vec<Uuid> {
        self.0.iter().map(|(id, _)| *id).collect()
    }

    pub fn scores(&self) -> HashMap<Uuid, f64> {
        self.0.iter().copied().collect()
    }
}

impl FromIterator<(Uuid, f64)> for Best {
    fn from_iter<I: IntoIterator<Item = (Uuid, f64)>>(matches: I) -> Self {
        Self(matches.into_iter().collect())
    }
}

impl Browse<'_> {
    /// The memories of one type that a query finds, best first.
    pub(super) async fn best(
        &self,
        memory_type: MemoryType,
        query: &str,
        narrowing: Narrowing<'_>,
        time_filter: &TimeFilter,
    ) -> Result<Best, MemoryError> {
        let limit = if narrowing.is_filtered { FILTERED } else { MOST_BEST };
        let scope = narrowing.scope.and_then(|scope| Scope::new(scope).ok());
        let hits = self.related(&[memory_type], query, scope, limit, time_filter).await?;
        Ok(hits.iter().map(|hit| (hit.id, hit.score)).collect())
    }

    /// The memories that contain all words of the query or are about the same topic. Does not count as a reference.
    pub(super) async fn related(
        &self,
        types: &[MemoryType],
        query: &str,
        scope: Option<Scope>,
        limit: usize,
        time_filter: &TimeFilter,
    ) -> Result<Vec<Hit>, MemoryError> {
        let (query, _) = butler_domain::validate::query(query);
        let input = SearchInput {
            query,
            types: types.to_vec(),
            scope,
            mode: Mode::Hybrid,
            limit,
            min_confidence: 0.0,
            min_relevance: None,
            hops: 0,
            explain: false,
            time_filter: time_filter.clone(),
            holding: false,
        };
        let mut call = Call::internal(self.memory, self.tenant.clone(), "dashboard");
        call.now = self.now;
        let mut hits = self.memory.search(&call, &input).await?.results;
        hits.retain(|hit| hit.all_terms || hit.similarity.is_some_and(|similarity| similarity >= RELATED));
        Ok(hits)
    }
}

/// The scope of a list with exactly one.
pub(super) fn only(scopes: Option<&[String]>) -> Option<&str> {
    match scopes {
        Some([scope]) => Some(scope),
        _ => None,
    }
}
