//! Search: the memories that match a query, by meaning, by words, or by both.

mod floor;
mod hit;
mod trace;

use std::cmp::Ordering;
use std::str::FromStr;
use std::time::Instant;

use butler_domain::deep::{self, DeepWeights, SearchScores};
use butler_domain::fusion::rrf_score;
use butler_domain::{MemoryType, Scope, UnknownName};
use butler_store::search::{Retrieve, Retrieved};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{KeywordMatch, SearchMode};
use crate::{Call, Memory, MemoryError};
pub(crate) use floor::{RatedMemory, apply_floor};
pub use hit::Hit;
pub use trace::{Explained, Trace, Weights};

/// How memories are matched and ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By meaning, with cosine similarity.
    Semantic,
    /// By words, with full-text search.
    Keyword,
    /// By both, fused by rank.
    Hybrid,
    /// By both, fused by score. For conversations: the neighbours and the session of an episode count too.
    Deep,
}

impl FromStr for Mode {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "semantic" => Ok(Self::Semantic),
            "keyword" => Ok(Self::Keyword),
            "hybrid" => Ok(Self::Hybrid),
            "deep" => Ok(Self::Deep),
            _ => Err(UnknownName {
                what: "mode",
                given: text.to_owned(),
                valid: &["semantic", "keyword", "hybrid", "deep"],
            }),
        }
    }
}

impl From<SearchMode> for Mode {
    fn from(mode: SearchMode) -> Self {
        match mode {
            SearchMode::Hybrid => Self::Hybrid,
            SearchMode::Semantic => Self::Semantic,
            SearchMode::Keyword => Self::Keyword,
        }
    }
}

/// The validated arguments of a search.
#[derive(Debug, Clone)]
pub struct SearchInput {
    /// The query, normalised by `butler_domain::validate::query`. An empty query finds nothing.
    pub query: String,
    pub types: Vec<MemoryType>,
    /// This scope and `global`; `None` means all scopes.
    pub scope: Option<Scope>,
    pub mode: Mode,
    /// The maximum number of results.
    pub limit: usize,
    /// The minimum effective confidence, 0 to 1.
    pub min_confidence: f64,
    /// Returns nothing unless a memory has at least this relevance, 0 to 1; see `butler_domain::relevance`.
    pub min_relevance: Option<f64>,
    /// Whether to return a trace and an explanation of each result.
    pub explain: bool,
}

/// The results of a search or recall, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchOutput {
    pub results: Vec<Hit>,
    /// Present if `explain` was set.
    pub trace: Option<Trace>,
}

impl Memory {
    /// Searches with one statement. Unlike a recall, a search does not count as a reference.
    pub async fn search(&self, call: &Call, input: &SearchInput) -> Result<SearchOutput, MemoryError> {
        self.search_ordered(call, input, Hit::order_by_score).await
    }

    async fn search_ordered(
        &self,
        call: &Call,
        input: &SearchInput,
        order: fn(&Hit, &Hit) -> Ordering,
    ) -> Result<SearchOutput, MemoryError> {
        let (retrieved, mut trace) = self.retrieve(call, input, 0).await?;
        let Retrieved { found, stores, .. } = retrieved;
        let rated = apply_floor(found, &stores, input.min_relevance);
        let mut hits = score(rated, input, call.now);
        hits.sort_by(order);
        hits.truncate(input.limit);
        if let Some(trace) = &mut trace {
            trace.explain(&mut hits, &stores);
        }
        Ok(SearchOutput { results: hits, trace })
    }

    /// Searches memories of one type by cosine similarity. Each hit has a `similarity`.
    pub async fn semantic_search(
        &self,
        call: &Call,
        memory_type: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one_type(call, Mode::Semantic, memory_type, query, scope, limit).await
    }

    /// Searches memories of one type by full-text rank. Each hit has a `rank`.
    pub async fn keyword_search(
        &self,
        call: &Call,
        memory_type: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one_type(call, Mode::Keyword, memory_type, query, scope, limit).await
    }

    /// Searches memories of one type by both. Each hit has an `rrf_score` and both ranks. Among equal scores the better
    /// semantic rank comes first.
    pub async fn hybrid_search(
        &self,
        call: &Call,
        memory_type: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one_type(call, Mode::Hybrid, memory_type, query, scope, limit).await
    }

    async fn search_one_type(
        &self,
        call: &Call,
        mode: Mode,
        memory_type: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        let (query, _) = butler_domain::validate::query(query);
        let input = SearchInput {
            query,
            types: vec![memory_type],
            scope,
            mode,
            limit,
            min_confidence: 0.0,
            min_relevance: None,
            explain: false,
        };
        let order = if mode == Mode::Hybrid { Hit::order_by_ranks } else { Hit::order_by_score };
        Ok(self.search_ordered(call, &input, order).await?.results)
    }

    /// Runs the statement behind search, recall and context. `recent` is the number of latest episodes to return as
    /// well. The trace contains the timings.
    pub(crate) async fn retrieve(
        &self,
        call: &Call,
        input: &SearchInput,
        recent: usize,
    ) -> Result<(Retrieved, Option<Trace>), MemoryError> {
        let has_query = !(input.query.is_empty() || input.limit == 0);
        if !has_query && recent == 0 {
            return Ok((Retrieved::default(), input.explain.then(Trace::default)));
        }
        let started = Instant::now();
        let pending = self.db().pending_counts(&call.tenant);
        let embedding = match input.mode {
            Mode::Semantic | Mode::Hybrid | Mode::Deep if has_query => Some(self.embed(&input.query).await?.vector),
            _ => None,
        };
        let embedded = started.elapsed();
        let request = Retrieve {
            types: if has_query { &input.types } else { &[] },
            scope: input.scope.as_ref().map(Scope::as_str),
            at: call.now,
            min_confidence: input.min_confidence,
            model: &self.model(),
            embedding: embedding.as_deref(),
            words: (has_query && input.mode != Mode::Semantic).then_some(input.query.as_str()),
            any_term: self.config().retrieval.keyword_match == KeywordMatch::Broad,
            limit: input.limit,
            deep: (input.mode == Mode::Deep).then(|| DeepWeights::default().as_array()),
            background: input.min_relevance.is_some(),
            recent,
        };
        let mut conn = self.db().reader_after(&call.tenant, pending).await?;
        let retrieved = butler_store::search::retrieve(&mut conn, &call.tenant, &request, self.pools()).await?;
        if retrieved.has_outgrown_an_index() {
            self.training().request(call.now);
        }
        let trace = input.explain.then(|| Trace::timed(input.mode, embedded, started.elapsed() - embedded));
        Ok((retrieved, trace))
    }
}

/// Computes the score of each memory for the mode of the search.
fn score(rated: Vec<RatedMemory>, input: &SearchInput, now: butler_domain::Timestamp) -> Vec<Hit> {
    let mut hits: Vec<Hit> = rated.into_iter().map(|memory| Hit::new(memory, now)).collect();
    match input.mode {
        Mode::Semantic => {
            for hit in &mut hits {
                hit.score = hit.similarity.unwrap_or(0.0);
            }
        }
        Mode::Keyword => {
            for hit in &mut hits {
                // A memory with all terms always scores higher than one with only some of them.
                hit.score = (f64::from(u8::from(hit.all_terms)) + hit.rank.unwrap_or(0.0)) / 2.0;
            }
        }
        Mode::Hybrid => {
            for hit in &mut hits {
                hit.fuse(input.limit);
            }
        }
        Mode::Deep => deep_scores(&mut hits),
    }
    hits
}

/// Computes deep scores of facts and of rules, each type on its own. The database has already scored the episodes.
fn deep_scores(hits: &mut [Hit]) {
    for memory_type in [MemoryType::Fact, MemoryType::Rule] {
        let has_type = |hit: &&mut Hit| hit.memory_type == memory_type;
        let list: Vec<SearchScores> = hits
            .iter_mut()
            .filter(has_type)
            .map(|hit| SearchScores { similarity: hit.similarity, keyword_rank: hit.rank })
            .collect();
        let scores = deep::fuse(&list, &DeepWeights::default());
        for (hit, score) in hits.iter_mut().filter(has_type).zip(scores) {
            hit.score = score;
        }
    }
}

impl Hit {
    /// Sets the fused score. A search that did not find the memory counts as rank `limit + 1`.
    pub(crate) fn fuse(&mut self, limit: usize) {
        let (semantic, keyword) = (self.semantic_rank.unwrap_or(limit + 1), self.keyword_rank.unwrap_or(limit + 1));
        let score = rrf_score(semantic, keyword);
        (self.semantic_rank, self.keyword_rank) = (Some(semantic), Some(keyword));
        (self.rrf_score, self.score) = (Some(score), score);
    }
}
