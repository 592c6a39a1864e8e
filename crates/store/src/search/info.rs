//! What `memory_retrieve` reports besides the memories: how each one was matched, and what each store contains.

use std::collections::BTreeMap;

use butler_domain::Timestamp;
use butler_domain::times::{FactDates, TimeFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The period that the caller asked for, as `functions/memories_fitting.sql` reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimeFilterRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

impl TimeFilterRow {
    /// `None` if the caller asked for no time.
    pub fn new(time_filter: &TimeFilter) -> Option<Self> {
        (!time_filter.is_empty()).then(|| Self {
            first: time_filter.valid_at.as_ref().map(|date| date.at),
            last: time_filter.valid_at.as_ref().map(|date| date.last()),
            as_of: time_filter.as_of,
            since: time_filter.since,
            until: time_filter.until,
        })
    }
}

/// How a memory was matched.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct MatchInfo {
    /// The path of the semantic leg: `exact`, or `ann` for the approximate index; `+all` where too few rows passed and every row
    /// was compared.
    #[serde(rename = "vector")]
    pub vector_path: Option<String>,
    /// Lists of the vector index that were probed.
    pub probes: Option<i64>,
    /// The path of the keyword leg: `scan`, `index`, or `newest` for terms that most of the store contains;
    /// `+names` where the query names an entity.
    #[serde(rename = "keyword")]
    pub keyword_path: Option<String>,
    /// The rarity of the query's terms that the memory contains, divided by its length (`functions/keyword_score.sql`).
    pub keyword_score: Option<f64>,
    /// Present in the modes that fuse scores.
    #[serde(rename = "parts")]
    pub fused: Option<FusedScore>,
    /// The terms of the query that the memory contains. Present if a background was requested.
    pub terms: Option<Vec<String>>,
    /// Whether the query names an entity of the fact, its subject or its object.
    pub named: Option<bool>,
    /// How relations lead to the fact from an entity that the query names.
    pub reached: Option<Reached>,
    /// When a fact is true, if that is known.
    pub dates: Option<FactDates>,
    /// When an episode happened.
    pub occurred_at: Option<Timestamp>,
    /// Whether an episode is held until a person releases it.
    pub held: Option<bool>,
    /// How many active facts share the name of this fact that the query contains. Present if a background was requested.
    pub sharing: Option<f64>,
    #[serde(skip)]
    pub in_semantic: bool,
    #[serde(skip)]
    pub in_keyword: bool,
}

// The doc comments of the types with `JsonSchema` are published.

/// The way to a fact along relations.
// `functions/facts_reached.sql` finds it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// The number of relations on the way.
    pub hops: usize,
    /// The last of them, which is a fact itself.
    pub via: Uuid,
    /// How well the fact and the relations match the query together.
    pub score: f64,
}

/// The score of the modes `fused` and `deep`, and its parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusedScore {
    pub score: f64,
    pub keyword: Option<f64>,
    pub semantic: Option<f64>,
    pub speaker: Option<f64>,
    pub session: Option<f64>,
}

/// The size of a store and its frequent terms: what a search needs to choose its path.
// `functions/memory_pool.sql` reports it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pool {
    /// Rows of the tenant that can be found. An estimate for a large store.
    pub rows: f64,
    /// Rows of the whole table.
    pub total: f64,
    /// Whether the store is so small that every row is compared.
    // `small_store_rows`
    #[serde(default)]
    pub small: bool,
    /// Lists of the vector index.
    pub lists: Option<i32>,
    /// Rows that the vector index was trained on. Null: it was never trained.
    pub trained: Option<i64>,
    /// The frequent terms of a large store and the share of rows that contain each.
    // `explain` removes them, so the published schema leaves them out.
    #[schemars(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<BTreeMap<String, f64>>,
}

/// A store that was searched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreInfo {
    #[serde(flatten)]
    pub pool: Pool,
    /// Present if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<StoreBackground>,
    /// Words of the memories that misspelled or unaccented words of the query were corrected to, each with the word typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrections: Option<BTreeMap<String, String>>,
    /// The pairs of facts found that contradict each other, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<(Uuid, Uuid)>,
    /// Time in the server.
    #[serde(default)]
    pub ms: f64,
}

/// How unrelated memories of the store compare with the query.
// `butler_domain::relevance` uses it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreBackground {
    pub rows: Option<f64>,
    pub compared: Option<f64>,
    pub mean: Option<f64>,
    pub deviation: Option<f64>,
    /// The terms of the query and the number of rows that contain each.
    pub terms: Option<BTreeMap<String, f64>>,
}
