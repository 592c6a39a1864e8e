//! Search: which memories match a query, by meaning, by words, by both.

mod hit;
mod trace;

use std::cmp::Ordering;
use std::str::FromStr;
use std::time::Instant;

use butler_domain::deep::{self, DeepWeights, Measures};
use butler_domain::fusion::rrf_score;
use butler_domain::{MemoryType, Scope, UnknownName};
use butler_store::search::{Retrieve, Retrieved, RetrievedMemory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{KeywordMatch, SearchMode};
use crate::{Call, Memory, MemoryError};
pub use hit::Hit;
pub(crate) use trace::relevant;
pub use trace::{Explained, Trace, Weights};

/// How to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By meaning: cosine similarity.
    Semantic,
    /// By words: full-text search.
    Keyword,
    /// Both, fused by their ranks.
    Hybrid,
    /// Both, fused by their scores, with the neighbours and the session of an episode: for conversations.
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

/// A search whose fields were validated.
#[derive(Debug, Clone)]
pub struct SearchInput {
    /// As `butler_domain::validate::query` leaves it. Empty finds nothing.
    pub query: String,
    pub types: Vec<MemoryType>,
    /// `None`: all scopes.
    pub scope: Option<Scope>,
    pub mode: Mode,
    pub limit: usize,
    /// Of effective confidence.
    pub min_confidence: f64,
    /// Below this relevance nothing is returned at all; see `butler_domain::relevance`.
    pub min_relevance: Option<f64>,
    /// Also say how the results came about.
    pub explain: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchOutput {
    pub results: Vec<Hit>,
    pub trace: Option<Trace>,
}

impl Memory {
    /// One statement. References are not counted: a search looks around, a recall uses.
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
        let kept = relevant(found, &stores, input.min_relevance);
        let mut hits = score(kept, input, call.now);
        hits.sort_by(order);
        hits.truncate(input.limit);
        if let Some(trace) = &mut trace {
            trace.explain(&mut hits, &stores);
        }
        Ok(SearchOutput { results: hits, trace })
    }

    /// Memories of one type by cosine similarity, best first, each with `similarity`.
    pub async fn semantic_search(
        &self,
        call: &Call,
        of: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one(call, Mode::Semantic, of, query, scope, limit).await
    }

    /// Memories of one type by full-text rank, best first, each with `rank`.
    pub async fn keyword_search(
        &self,
        call: &Call,
        of: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one(call, Mode::Keyword, of, query, scope, limit).await
    }

    /// Memories of one type by both, each with `rrf_score` and both ranks; where two tie, the better semantic rank goes first.
    pub async fn hybrid_search(
        &self,
        call: &Call,
        of: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        self.search_one(call, Mode::Hybrid, of, query, scope, limit).await
    }

    async fn search_one(
        &self,
        call: &Call,
        mode: Mode,
        of: MemoryType,
        query: &str,
        scope: Option<Scope>,
        limit: usize,
    ) -> Result<Vec<Hit>, MemoryError> {
        let query = butler_domain::validate::query("query", query)?;
        let (min_confidence, min_relevance, explain) = (0.0, None, false);
        let input = SearchInput { query, types: vec![of], scope, mode, limit, min_confidence, min_relevance, explain };
        let order = if mode == Mode::Hybrid { Hit::order_by_ranks } else { Hit::order_by_score };
        Ok(self.search_ordered(call, &input, order).await?.results)
    }

    /// What all readers ask of the store, and how long it took.
    pub(crate) async fn retrieve(
        &self,
        call: &Call,
        input: &SearchInput,
        recent: usize,
    ) -> Result<(Retrieved, Option<Trace>), MemoryError> {
        let searched = !(input.query.is_empty() || input.limit == 0);
        if !searched && recent == 0 {
            return Ok((Retrieved::default(), input.explain.then(Trace::default)));
        }
        let started = Instant::now();
        let before = self.db().pending_counts(&call.tenant);
        let embedding = match input.mode {
            Mode::Semantic | Mode::Hybrid | Mode::Deep if searched => Some(self.embed(&input.query).await?.vector),
            _ => None,
        };
        let embedded = started.elapsed();
        let request = Retrieve {
            types: if searched { &input.types } else { &[] },
            scope: input.scope.as_ref().map(Scope::as_str),
            at: call.now,
            min_confidence: input.min_confidence,
            model: &self.model(),
            embedding: embedding.as_deref(),
            words: (searched && input.mode != Mode::Semantic).then_some(input.query.as_str()),
            any_term: self.config().retrieval.keyword_match == KeywordMatch::Broad,
            limit: input.limit,
            deep: (input.mode == Mode::Deep).then(|| DeepWeights::default().as_array()),
            background: input.min_relevance.is_some(),
            recent,
        };
        let mut conn = self.db().reader_after(&call.tenant, before).await?;
        let retrieved = butler_store::search::retrieve(&mut conn, &call.tenant, &request, self.pools()).await?;
        if retrieved.has_outgrown_an_index() {
            self.training().ring(call.now);
        }
        let trace = input.explain.then(|| Trace::timed(input.mode, embedded, started.elapsed() - embedded));
        Ok((retrieved, trace))
    }
}

/// Each memory with its score.
fn score(found: Vec<RetrievedMemory>, input: &SearchInput, now: butler_domain::Timestamp) -> Vec<Hit> {
    let mut hits: Vec<Hit> = found.into_iter().map(|found| Hit::new(found, now)).collect();
    match input.mode {
        Mode::Semantic => {
            for hit in &mut hits {
                hit.score = hit.similarity.unwrap_or(0.0);
            }
        }
        Mode::Keyword => {
            for hit in &mut hits {
                // all terms above any term, whatever the ranks say
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

/// Episodes were scored by the database; facts and rules among their own kind.
fn deep_scores(hits: &mut [Hit]) {
    for kind in [MemoryType::Fact, MemoryType::Rule] {
        let of_kind = |hit: &&mut Hit| hit.memory_type == kind;
        let measures: Vec<Measures> = hits
            .iter_mut()
            .filter(of_kind)
            .map(|hit| Measures { similarity: hit.similarity, rank: hit.rank })
            .collect();
        let scores = deep::fuse(&measures, &DeepWeights::default());
        for (hit, score) in hits.iter_mut().filter(of_kind).zip(scores) {
            hit.score = score;
        }
    }
}

impl Hit {
    /// Reciprocal rank fusion; a leg that did not find the memory counts as the rank behind its last.
    pub(crate) fn fuse(&mut self, limit: usize) {
        let (semantic, keyword) = (self.semantic_rank.unwrap_or(limit + 1), self.keyword_rank.unwrap_or(limit + 1));
        let score = rrf_score(semantic, keyword);
        (self.semantic_rank, self.keyword_rank) = (Some(semantic), Some(keyword));
        (self.rrf_score, self.score) = (Some(score), score);
    }
}
