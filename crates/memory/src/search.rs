//! Search: the memories that match a query, by meaning, by words, or by both.

mod floor;
mod hit;
mod reached;
mod trace;
mod window;

use std::time::Instant;

use butler_domain::deep::DeepWeights;
use butler_domain::fusion::rrf_score;
use butler_domain::phrases::named_event;
use butler_domain::query_names::query_names;
use butler_domain::text::preprocess_search_query;
use butler_domain::times::TimeFilter;
use butler_domain::{MemoryType, Scope, TenantId, Timestamp};
pub use butler_store::search::TimeFilterRow;
use butler_store::search::{Retrieve, Retrieved, RetrievedMemory, StoreInfo, retrieve};
use butler_store::{Session, times};
use uuid::Uuid;

use crate::config::KeywordMatch;
use crate::{Call, Memory, MemoryError};
pub use butler_domain::Mode;
pub(crate) use floor::{Floor, Floored, RatedMemory, apply_floor};
pub use hit::Hit;
pub(crate) use reached::place as place_reached;
pub use trace::{Explained, Trace, Weights};
pub(crate) use window::TimeWords;

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
    /// How many relations to follow from the entities that the query names, 0 to 3.
    pub hops: usize,
    /// Whether to return a trace and an explanation of each result.
    pub explain: bool,
    /// The period that it is about.
    pub time_filter: TimeFilter,
    /// Whether to leave out facts that are not true now. It has no effect with a period.
    pub holding: bool,
}

/// All memories that a call ranked, best first. The answer contains those within the limit.
pub(crate) struct Ranked {
    pub hits: Vec<Hit>,
    /// The memories that the relevance floor dropped.
    pub dropped: Vec<RatedMemory>,
    pub stores: Vec<(MemoryType, StoreInfo)>,
    pub trace: Option<Trace>,
}

impl Ranked {
    /// The answer, with an explanation of each hit if there is a trace.
    pub fn explained(mut self) -> SearchOutput {
        if let Some(trace) = &mut self.trace {
            trace.explain(&mut self.hits, &self.stores);
        }
        SearchOutput { results: self.hits, trace: self.trace }
    }
}

/// The results of a search or recall, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchOutput {
    pub results: Vec<Hit>,
    /// Present if `explain` was set.
    pub trace: Option<Trace>,
}

impl Memory {
    /// Searches in the given mode. Unlike a recall, a search does not count as a reference.
    pub async fn search(&self, call: &Call, input: &SearchInput) -> Result<SearchOutput, MemoryError> {
        let mut ranked = self.rank_search(call, input).await?;
        ranked.hits.truncate(input.limit);
        Ok(ranked.explained())
    }

    pub(crate) async fn rank_search(&self, call: &Call, input: &SearchInput) -> Result<Ranked, MemoryError> {
        let words = self.time_words(call, input).await?;
        let (retrieved, trace) = self.retrieve(call, input, &words, Episodes::default()).await?;
        let Retrieved { found, reached, stores, .. } = retrieved;
        let Floored { kept, dropped } = apply_floor(found, &stores, input.min_relevance.map(Floor::Requested));
        let mut hits = score(kept, input.mode, input.limit, call.now);
        words.boost(&mut hits);
        hits.sort_by(Hit::order(input.mode));
        place_reached(&mut hits, reached, input.min_relevance.is_some(), call.now, |_| ());
        Ok(Ranked { hits, dropped, stores, trace })
    }

    // The specification names this function and `hybrid_search`. Tools and the REST API use the search by mode.
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
            hops: 0,
            explain: false,
            time_filter: TimeFilter::default(),
            holding: false,
        };
        Ok(self.search(call, &input).await?.results)
    }

    /// The time that the query names, unless the caller asks for one. Only an event, such as "before the move", needs the
    /// database.
    pub(crate) async fn time_words(&self, call: &Call, input: &SearchInput) -> Result<TimeWords, MemoryError> {
        if !input.time_filter.is_empty() || input.query.is_empty() {
            return Ok(TimeWords::default());
        }
        let words = TimeWords::new(&input.query, call.now, self.zone());
        let event = if words.understood.window.is_none() { named_event(&input.query, self.zone()) } else { None };
        let Some(event) = event else { return Ok(words) };
        let mut conn = self.db().reader(&call.tenant).await?;
        let scope = input.scope.as_ref().map(Scope::as_str);
        let date = times::event_date(&mut conn, &call.tenant, scope, &input.query, &event).await?;
        Ok(words.with_event(&event, date, self.zone()))
    }

    /// Embeds the query and searches the database, for search, recall and context. The trace contains the timings.
    pub(crate) async fn retrieve(
        &self,
        call: &Call,
        input: &SearchInput,
        words_of_time: &TimeWords,
        episodes: Episodes,
    ) -> Result<(Retrieved, Option<Trace>), MemoryError> {
        let has_query = !(input.query.is_empty() || input.limit == 0);
        if !has_query && episodes.recent == 0 {
            return Ok((Retrieved::default(), input.explain.then(Trace::default)));
        }
        let started = Instant::now();
        let pending = self.db().pending_counts(&call.tenant);
        let embedding = match input.mode {
            Mode::Keyword => None,
            _ if !has_query => None,
            _ => Some(self.embed(&input.query).await?.vector),
        };
        let embedded = started.elapsed();
        let model = self.model();
        let has_words = has_query && input.mode != Mode::Semantic;
        let words = has_words.then(|| preprocess_search_query(&input.query));
        let request = Retrieve {
            types: if has_query { input.types.clone() } else { Vec::new() },
            scope: input.scope.as_ref().map(Scope::as_str),
            at: call.now,
            min_confidence: input.min_confidence,
            model: &model.name,
            model_version: &model.version,
            embedding: embedding.as_deref(),
            query: &input.query,
            names: query_names(&input.query),
            words: words.as_deref(),
            unknown_words: if has_words { self.unknown_words(&input.query) } else { Vec::new() },
            plain_words: if has_words { self.plain_words(&input.query) } else { Vec::new() },
            any_term: self.config().retrieval.keyword_match == KeywordMatch::Broad,
            mode: input.mode.as_str(),
            limit: input.limit,
            deep: DeepWeights::default().as_array(),
            hops: input.hops,
            background: input.min_relevance.is_some() || episodes.background,
            related: if has_query { episodes.related } else { 0 },
            recent: episodes.recent,
            time_filter: TimeFilterRow::new(&input.time_filter),
            holding: input.holding,
            conflicts: episodes.conflicts,
            window: words_of_time.window(),
        };
        let mut conn = self.db().reader_after(&call.tenant, pending).await?;
        let mut retrieved = retrieve(&mut conn, &call.tenant, &request, self.pools()).await?;
        if let Some(as_of) = input.time_filter.as_of {
            use_texts_then(&mut conn, &call.tenant, &mut retrieved, as_of).await?;
        }
        if retrieved.has_outgrown_an_index() {
            self.training().request(call.now);
        }
        let trace = input.explain.then(|| Trace {
            time: words_of_time.understood.clone(),
            ..Trace::timed(input.mode, embedded, started.elapsed() - embedded)
        });
        Ok((retrieved, trace))
    }
}

/// Gives rules the text, and entities the name, that they had at a moment.
async fn use_texts_then(
    session: &mut Session,
    tenant: &TenantId,
    retrieved: &mut Retrieved,
    as_of: Timestamp,
) -> Result<(), MemoryError> {
    let ids =
        |of: fn(&RetrievedMemory) -> Option<Uuid>| -> Vec<Uuid> { retrieved.found.iter().filter_map(of).collect() };
    let rules = ids(|memory| (memory.memory_type == MemoryType::Rule).then_some(memory.id));
    let entities = ids(|memory| memory.entity_id);
    let then = times::texts_then(session, tenant, &rules, &entities, as_of).await?;
    let text =
        |texts: &[(Uuid, String)], id: Uuid| texts.iter().find(|(of, _)| *of == id).map(|(_, text)| text.clone());
    for memory in retrieved.found.iter_mut().chain(&mut retrieved.reached) {
        if let Some(content) = text(&then.rules, memory.id) {
            memory.content = content;
        }
        if let Some(name) = memory.entity_id.and_then(|id| text(&then.entities, id)) {
            memory.entity_name = Some(name);
        }
    }
    Ok(())
}

/// What a context needs besides the search itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Episodes {
    /// The number of episodes most relevant to the query.
    pub related: usize,
    /// The number of latest episodes.
    pub recent: usize,
    /// Whether to return what the relevance floor needs.
    pub background: bool,
    /// Whether to return which facts contradict each other.
    pub conflicts: bool,
}

/// Computes the score of each memory for the mode.
pub(crate) fn score(rated: Vec<RatedMemory>, mode: Mode, limit: usize, now: Timestamp) -> Vec<Hit> {
    let mut hits: Vec<Hit> = rated.into_iter().map(|memory| Hit::new(memory, now)).collect();
    for hit in &mut hits {
        match mode {
            Mode::Semantic => hit.score = hit.similarity.unwrap_or(0.0),
            // A memory with all terms always scores higher than one with only some of them.
            Mode::Keyword => hit.score = (f64::from(u8::from(hit.all_terms)) + hit.rank.unwrap_or(0.0)) / 2.0,
            Mode::Hybrid => hit.fuse(limit),
            // The database has computed the score.
            Mode::Fused | Mode::Deep => {}
        }
    }
    hits
}

impl Hit {
    /// Sets the fused score. A search that did not find the memory counts as rank `limit + 1`.
    fn fuse(&mut self, limit: usize) {
        let (semantic, keyword) = (self.semantic_rank.unwrap_or(limit + 1), self.keyword_rank.unwrap_or(limit + 1));
        let score = rrf_score(semantic, keyword);
        (self.semantic_rank, self.keyword_rank) = (Some(semantic), Some(keyword));
        (self.rrf_score, self.score) = (Some(score), score);
    }
}
