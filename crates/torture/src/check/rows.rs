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
    /// Entities of which a merge was undone. Another merge may have followed.
    pub unmerged: HashSet<Uuid>,
    pub proposals: HashMap<Uuid, Proposal>,
    pub conflicts: HashMap<Uuid, Conflict>,
    /// The tenant and name of each registered predicate.
    pub predicates: HashSet<(String, String)>,
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

#[derive(Debug, Clone)]
pub struct Proposal {
    pub tenant: String,
    /// `open`, `approved` or `rejected`.
    pub state: String,
}

#[derive(Debug, Clone)]
pub struct Conflict {
    pub tenant: String,
    /// `None` while it is open.
    pub resolution: Option<String>,
    /// The fact that its latest resolution stored.
    pub result: Option<Uuid>,
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
        if let (Some(id), "entity_unmerged") = (about, event.as_str()) {
            rows.unmerged.insert(id);
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
    load_trust(db, &mut rows).await?;
    Ok(rows)
}

/// What waits for a decision or was decided, and the predicates.
async fn load_trust(db: &mut PgConnection, rows: &mut Rows) -> anyhow::Result<()> {
    let proposals: Vec<(Uuid, String, String)> =
        sqlx::query_as("SELECT id, tenant_id, state FROM proposals").fetch_all(&mut *db).await?;
    rows.proposals = proposals.into_iter().map(|(id, tenant, state)| (id, Proposal { tenant, state })).collect();
    let conflicts: Vec<(Uuid, String, Option<String>, Option<Uuid>)> = sqlx::query_as(
        "SELECT c.id, c.tenant_id, c.resolution,
                (SELECT (e.payload ->> 'result_id')::uuid FROM memory_events e
                 WHERE e.tenant_id = c.tenant_id AND e.memory_id = c.fact_a AND e.event_type = 'conflict_resolved'
                   AND e.payload ->> 'conflict_id' = c.id::text
                 ORDER BY e.created_at DESC LIMIT 1)
         FROM conflicts c",
    )
    .fetch_all(&mut *db)
    .await?;
    for (id, tenant, resolution, result) in conflicts {
        rows.conflicts.insert(id, Conflict { tenant, resolution, result });
    }
    let predicates: Vec<(String, String)> =
        sqlx::query_as("SELECT tenant_id, name FROM predicates").fetch_all(&mut *db).await?;
    rows.predicates = predicates.into_iter().collect();
    Ok(())
}
