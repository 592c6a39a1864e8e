//! The rows of all tenants, as the database's owner sees them.

use std::collections::{HashMap, HashSet};

use sqlx::PgConnection;
use uuid::Uuid;

#[derive(Debug, Default)]
pub struct Rows {
    pub facts: HashMap<Uuid, Memory>,
    pub episodes: HashMap<Uuid, Memory>,
    pub rules: HashMap<Uuid, Memory>,
    pub marks: HashMap<Uuid, Marks>,
    pub entities: HashMap<Uuid, Entity>,
    /// The events of each request: type and memory.
    pub events: HashMap<String, Vec<(String, Option<Uuid>)>>,
    /// Episodes whose removal was recorded.
    pub removed: HashSet<Uuid>,
    /// Memories and entities that were erased: their creation has lost its text.
    pub erased: HashSet<Uuid>,
    /// Facts that were superseded and are believed again.
    pub restored: HashSet<Uuid>,
    /// Pairs of the newer and the older fact.
    pub supersedes: HashSet<(Uuid, Uuid)>,
}

#[derive(Debug, Clone)]
pub struct Memory {
    pub tenant: String,
    pub content: String,
    /// A fact's validity, a rule's maturity, or an episode's consolidation status.
    pub state: String,
    pub forgotten: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    pub helpful: i64,
    pub harmful: i64,
}

#[derive(Debug, Clone)]
pub struct Entity {
    pub tenant: String,
    pub name: String,
    pub merged_into: Option<Uuid>,
    pub metadata: serde_json::Value,
}

type Row = (Uuid, String, String, String, bool);

pub async fn load(db: &mut PgConnection) -> anyhow::Result<Rows> {
    let memories = |rows: Vec<Row>| {
        let memory = |(id, tenant, content, state, forgotten)| (id, Memory { tenant, content, state, forgotten });
        rows.into_iter().map(memory).collect::<HashMap<_, _>>()
    };
    let facts = "SELECT id, tenant_id, content, validity, validity = 'retracted' FROM facts";
    let rules = "SELECT id, tenant_id, content, maturity, NOT rule_is_remembered(metadata) FROM rules";
    let episodes =
        "SELECT id, tenant_id, content, consolidation_status::text, expires_at <= clock_timestamp() FROM episodes";
    let mut rows = Rows {
        facts: memories(sqlx::query_as(facts).fetch_all(&mut *db).await?),
        rules: memories(sqlx::query_as(rules).fetch_all(&mut *db).await?),
        episodes: memories(sqlx::query_as(episodes).fetch_all(&mut *db).await?),
        ..Rows::default()
    };
    let marks: Vec<(Uuid, i64, i64)> =
        sqlx::query_as("SELECT id, success_count::bigint, harmful_count::bigint FROM rules")
            .fetch_all(&mut *db)
            .await?;
    rows.marks = marks.into_iter().map(|(id, helpful, harmful)| (id, Marks { helpful, harmful })).collect();
    let entities: Vec<(Uuid, String, String, Option<String>, serde_json::Value)> =
        sqlx::query_as("SELECT id, tenant_id, canonical_name::text, metadata->>'merged_into', metadata FROM entities")
            .fetch_all(&mut *db)
            .await?;
    for (id, tenant, name, merged_into, metadata) in entities {
        let merged_into = merged_into.and_then(|id| id.parse().ok());
        rows.entities.insert(id, Entity { tenant, name, merged_into, metadata });
    }
    let events: Vec<(Option<String>, String, Option<Uuid>, bool)> =
        sqlx::query_as("SELECT request_id, event_type, memory_id, payload ? 'erased' FROM memory_events")
            .fetch_all(&mut *db)
            .await?;
    for (request, event, about, is_bare) in events {
        if let (Some(id), true, true) = (about, is_bare, event.ends_with("_created")) {
            rows.erased.insert(id);
        }
        if let (Some(id), "episode_expired" | "episode_evicted") = (about, event.as_str()) {
            rows.removed.insert(id);
        }
        if let (Some(id), "fact_restored") = (about, event.as_str()) {
            rows.restored.insert(id);
        }
        if let Some(request) = request {
            rows.events.entry(request).or_default().push((event, about));
        }
    }
    let links: Vec<(Uuid, Uuid)> =
        sqlx::query_as("SELECT source_id, target_id FROM memory_links WHERE relation = 'supersedes'")
            .fetch_all(&mut *db)
            .await?;
    rows.supersedes = links.into_iter().collect();
    Ok(rows)
}
