//! Retrieval: the statement behind search, recall and context.
//!
//! `functions/memory_retrieve.sql` does the work: one statement for all types and both legs, or two at the same time, for the
//! facts and for everything else (ADR 210).

mod info;
mod pools;
pub mod train;

use std::collections::{BTreeMap, BTreeSet};

use butler_domain::{MemoryType, TenantId, Timestamp};
use futures::future::join;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::types::{Json, JsonRawValue};
use uuid::Uuid;

use crate::{Conn, Session, StoreError};
pub use info::{FusedScore, MatchInfo, Pool, Reached, StoreBackground, StoreInfo, TimeFilterRow};
pub use pools::Pools;

/// What to retrieve. Each leg of each type finds at most `limit` rows. `functions/memory_retrieve.sql` reads it.
#[derive(Debug, Clone, Serialize)]
pub struct Retrieve<'a> {
    pub types: Vec<MemoryType>,
    /// Facts and rules of this scope and of `global`, and episodes of this butler; `None` means all.
    pub scope: Option<&'a str>,
    pub at: Timestamp,
    /// The minimum effective confidence. It does not apply to episodes.
    pub min_confidence: f64,
    pub model: &'a str,
    pub model_version: &'a str,
    /// The semantic leg; `None` leaves it out.
    #[serde(skip)]
    pub embedding: Option<&'a [f32]>,
    /// The query as typed, in which speakers are named.
    pub query: &'a str,
    /// What may be an entity's name in the query.
    pub names: BTreeSet<String>,
    /// The query in the form of the word index, for the keyword leg; `None` leaves the leg out.
    pub words: Option<&'a str>,
    /// The words of the query that may be misspelled.
    pub unknown_words: Vec<String>,
    /// The words of the query that are spelled correctly but have no accents.
    pub plain_words: Vec<String>,
    /// Whether memories that contain any of the terms follow those that contain all.
    pub any_term: bool,
    /// `semantic`, `keyword`, `hybrid`, `fused` or `deep`.
    pub mode: &'static str,
    pub limit: usize,
    /// The weights of the mode `deep`.
    pub deep: [f64; 6],
    /// Also return what [`butler_domain::relevance`] needs.
    pub background: bool,
    /// How many relations to follow from the entities that the query names, 0 to 3.
    pub hops: usize,
    /// Also return this many episodes of the scope's butler, ranked by the mode `deep`, and the neighbours of the first.
    pub related: usize,
    /// Also return this many of the latest episodes of the scope's butler.
    pub recent: usize,
    /// Only memories that fit this period.
    // The key in the JSON stays: a newer program's functions also serve an older program.
    #[serde(rename = "asked", skip_serializing_if = "Option::is_none")]
    pub time_filter: Option<TimeFilterRow>,
    /// Whether to return only facts that are true at `at`.
    pub holding: bool,
    /// Whether to return which of the facts contradict each other.
    pub conflicts: bool,
    /// Also return the facts and episodes of this period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<TimeFilterRow>,
}

impl Retrieve<'_> {
    /// Whether it asks for facts and for something else.
    fn has_parts(&self) -> bool {
        let others = self.types.iter().any(|kind| *kind != MemoryType::Fact);
        self.types.contains(&MemoryType::Fact) && (others || self.related > 0 || self.recent > 0)
    }

    /// The request for the facts, and the one for everything else.
    fn parts(&self) -> (Self, Self) {
        let (facts, others) = self.types.iter().copied().partition(|kind| *kind == MemoryType::Fact);
        (Retrieve { types: facts, related: 0, recent: 0, ..self.clone() }, Retrieve { types: others, ..self.clone() })
    }
}

/// The result of [`retrieve`].
#[derive(Debug, Clone, Default)]
pub struct Retrieved {
    /// What the legs found, unordered.
    pub found: Vec<RetrievedMemory>,
    /// The facts that relations lead to from the entities that the query names, best first. Some may be in `found`, too.
    pub reached: Vec<RetrievedMemory>,
    /// The episodes most relevant to the query, unordered.
    pub related: Vec<RetrievedMemory>,
    /// The turns before and after the first related episodes.
    pub neighbours: Vec<RetrievedMemory>,
    /// The latest episodes, newest first.
    pub recent: Vec<RetrievedMemory>,
    /// The store of each type that was searched.
    pub stores: Vec<(MemoryType, StoreInfo)>,
}

impl Retrieved {
    /// Whether a store holds far more rows than its vector index was trained on. Only the tenant's own rows count; training
    /// finds at least as many.
    pub fn has_outgrown_an_index(&self) -> bool {
        self.stores.iter().any(|(_, store)| train::outgrown(store.pool.rows as i64, store.pool.trained.unwrap_or(0)))
    }
}

/// A memory that retrieval found.
#[derive(Debug, Clone, PartialEq)]
pub struct RetrievedMemory {
    pub memory_type: MemoryType,
    pub id: Uuid,
    pub similarity: Option<f64>,
    /// Position in the semantic leg; `None` if that leg did not find it.
    pub semantic_rank: Option<usize>,
    /// `ts_rank` of the keyword leg.
    pub rank: Option<f64>,
    /// Whether the memory contains all terms of the query.
    pub strict: bool,
    /// Position in the keyword leg; `None` if that leg did not find it.
    pub keyword_rank: Option<usize>,
    pub content: String,
    pub subject: Option<String>,
    pub predicate: Option<String>,
    /// The scope of a fact or rule, or the butler of an episode.
    pub scope: String,
    pub importance: Option<f64>,
    /// The confidence at the last confirmation, from which it decays; `None` for an episode.
    pub confidence: Option<f64>,
    pub decay_rate: Option<f64>,
    pub last_confirmed_at: Option<Timestamp>,
    pub last_referenced_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub maturity: Option<String>,
    pub effectiveness: Option<f64>,
    pub entity_id: Option<Uuid>,
    pub entity_name: Option<String>,
    pub session_id: Option<Uuid>,
    pub fading: bool,
    pub matched: MatchInfo,
}

/// Retrieves memories in one statement, or in two at the same time if a second session is idle.
pub async fn retrieve(
    session: &mut Conn,
    tenant: &TenantId,
    request: &Retrieve<'_>,
    pools: &Pools,
) -> Result<Retrieved, StoreError> {
    if !request.has_parts() {
        return retrieve_on(session, None, tenant, request, pools).await;
    }
    let mut second = session.second().await;
    let retrieved = retrieve_on(session, second.as_deref_mut(), tenant, request, pools).await?;
    if second.is_none() {
        open_second(session, tenant, request);
    }
    Ok(retrieved)
}

/// As [`retrieve`]. A second session is for a request that asks for facts and for something else.
pub async fn retrieve_on(
    session: &mut Session,
    second: Option<&mut Session>,
    tenant: &TenantId,
    request: &Retrieve<'_>,
    pools: &Pools,
) -> Result<Retrieved, StoreError> {
    let rows = if let Some(second) = second {
        let (facts, others) = request.parts();
        let (facts, others) = join(run(session, tenant, &facts, pools), run(second, tenant, &others, pools)).await;
        facts?.into_iter().chain(others?).collect()
    } else {
        run(session, tenant, request, pools).await?
    };
    let mut retrieved = Retrieved::default();
    for row in rows {
        row.sort_into(&mut retrieved, tenant, request, pools)?;
    }
    Ok(retrieved)
}

/// Opens a second session for later calls, if there should be one. It runs this request, so that most statements are planned when
/// a later call uses it. Nobody waits for it or reads its answer.
fn open_second(session: &Conn, tenant: &TenantId, request: &Retrieve<'_>) {
    let Some(opening) = session.open_second() else { return };
    let Ok(body) = serde_json::to_value(request) else { return };
    let (tenant, embedding) = (tenant.clone(), request.embedding.map(<[f32]>::to_vec));
    tokio::spawn(async move {
        let prepared = async {
            let mut second = opening.await?;
            call(&mut second, &tenant, &body, embedding.as_deref(), &BTreeMap::new()).await
        };
        if let Err(error) = prepared.await {
            tracing::debug!(%error, "no second session");
        }
    });
}

async fn run(
    session: &mut Session,
    tenant: &TenantId,
    request: &Retrieve<'_>,
    pools: &Pools,
) -> Result<Vec<Row>, StoreError> {
    call(session, tenant, request, request.embedding, &pools.known(tenant, request)).await
}

async fn call(
    session: &mut Session,
    tenant: &TenantId,
    request: &(impl Serialize + Sync),
    embedding: Option<&[f32]>,
    known: &BTreeMap<&'static str, Pool>,
) -> Result<Vec<Row>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_as!(
                Row,
                r#"
                SELECT kind AS "kind!", id, similarity, semantic_rank, rank, strict, keyword_rank, content AS "content!", subject,
                       predicate, scope, importance, confidence, decay_rate, last_confirmed_at, last_referenced_at, created_at,
                       maturity, effectiveness, entity_id, entity_name, session_id, fading,
                       info AS "info: Json<Box<JsonRawValue>>"
                FROM memory_retrieve($1, $2, $3::real[], $4)
                "#,
                tenant.as_str(),
                Json(request) as _,
                embedding,
                Json(known) as _,
            )
            .fetch_all(pg)
        })
        .await
}

struct Row {
    kind: String,
    id: Option<Uuid>,
    similarity: Option<f64>,
    semantic_rank: Option<i32>,
    rank: Option<f32>,
    strict: Option<bool>,
    keyword_rank: Option<i32>,
    content: String,
    subject: Option<String>,
    predicate: Option<String>,
    scope: Option<String>,
    importance: Option<f64>,
    confidence: Option<f64>,
    decay_rate: Option<f64>,
    last_confirmed_at: Option<Timestamp>,
    last_referenced_at: Option<Timestamp>,
    created_at: Option<Timestamp>,
    maturity: Option<String>,
    effectiveness: Option<f64>,
    entity_id: Option<Uuid>,
    entity_name: Option<String>,
    session_id: Option<Uuid>,
    fading: Option<bool>,
    /// Parsed when the kind of the row is known, which decides its type.
    info: Option<Json<Box<JsonRawValue>>>,
}

impl Row {
    fn sort_into(
        self,
        retrieved: &mut Retrieved,
        tenant: &TenantId,
        request: &Retrieve<'_>,
        pools: &Pools,
    ) -> Result<(), StoreError> {
        let bad = |reason: String| StoreError::BadData {
            table: "memory_retrieve",
            column: "kind",
            id: self.id.map(|id| id.to_string()).unwrap_or_default(),
            reason,
        };
        match self.kind.as_str() {
            "pool" => {
                let kind: MemoryType =
                    self.content.parse().map_err(|e: butler_domain::UnknownName| bad(e.to_string()))?;
                let store: StoreInfo = decoded(self.id, self.info)?;
                if self.strict == Some(true) {
                    pools.learn(tenant, request.scope, kind, &store.pool);
                }
                retrieved.stores.push((kind, store));
            }
            "reached" => retrieved.reached.push(self.into_memory(MemoryType::Fact)?),
            "related" => retrieved.related.push(self.into_memory(MemoryType::Episode)?),
            "neighbour" => retrieved.neighbours.push(self.into_memory(MemoryType::Episode)?),
            "recent" => retrieved.recent.push(self.into_memory(MemoryType::Episode)?),
            kind => {
                let kind = kind.parse().map_err(|e: butler_domain::UnknownName| bad(e.to_string()))?;
                // Memories of the window follow those that the search found by itself.
                if request.window.is_none() || retrieved.found.iter().all(|found| Some(found.id) != self.id) {
                    retrieved.found.push(self.into_memory(kind)?);
                }
            }
        }
        Ok(())
    }

    fn into_memory(self, memory_type: MemoryType) -> Result<RetrievedMemory, StoreError> {
        let missing = |column| StoreError::BadData {
            table: "memory_retrieve",
            column,
            id: self.id.map(|id| id.to_string()).unwrap_or_default(),
            reason: "is missing".to_owned(),
        };
        let place = |rank: Option<i32>| rank.and_then(|rank| usize::try_from(rank).ok());
        let matched = MatchInfo {
            in_semantic: self.semantic_rank.is_some(),
            in_keyword: self.keyword_rank.is_some(),
            ..decoded(self.id, self.info)?
        };
        Ok(RetrievedMemory {
            memory_type,
            id: self.id.ok_or_else(|| missing("id"))?,
            similarity: self.similarity,
            semantic_rank: place(self.semantic_rank),
            rank: self.rank.map(f64::from),
            strict: self.strict.unwrap_or(false),
            keyword_rank: place(self.keyword_rank),
            created_at: self.created_at.ok_or_else(|| missing("created_at"))?,
            scope: self.scope.unwrap_or_default(),
            content: self.content,
            subject: self.subject,
            predicate: self.predicate,
            importance: self.importance,
            confidence: self.confidence,
            decay_rate: self.decay_rate,
            last_confirmed_at: self.last_confirmed_at,
            last_referenced_at: self.last_referenced_at,
            maturity: self.maturity,
            effectiveness: self.effectiveness,
            entity_id: self.entity_id,
            entity_name: self.entity_name,
            session_id: self.session_id,
            fading: self.fading.unwrap_or(false),
            matched,
        })
    }
}

/// Decodes the column `info`; a row without one has the default.
fn decoded<T: DeserializeOwned + Default>(
    id: Option<Uuid>,
    info: Option<Json<Box<JsonRawValue>>>,
) -> Result<T, StoreError> {
    let Some(Json(info)) = info else { return Ok(T::default()) };
    serde_json::from_str(info.get()).map_err(|error| StoreError::BadData {
        table: "memory_retrieve",
        column: "info",
        id: id.map(|id| id.to_string()).unwrap_or_default(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_store_outgrows_an_index_trained_on_nothing_or_on_less_than_half() {
        let of = |info: Value| {
            let store = serde_json::from_value(info).unwrap_or_default();
            Retrieved { stores: vec![(MemoryType::Fact, store)], ..Retrieved::default() }
        };
        assert!(of(json!({"rows": 4000, "total": 4000, "trained": null})).has_outgrown_an_index());
        assert!(of(json!({"rows": 4000.5, "total": 4000.5, "trained": 1500})).has_outgrown_an_index());
        assert!(!of(json!({"rows": 4000, "total": 4000, "trained": 4000})).has_outgrown_an_index());
        assert!(
            !of(json!({"rows": 10, "total": 90000, "trained": null})).has_outgrown_an_index(),
            "the rows of other tenants do not count"
        );
        assert!(!Retrieved::default().has_outgrown_an_index());
    }
}
