//! Which memories agents were given, in which session and call. `memory_bump` writes a row beside the reference counts.

use butler_domain::event::Origin;
use butler_domain::ids::new_id;
use butler_domain::{MemoryType, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::types::Json;
use uuid::Uuid;

use crate::browse::{Listed, Page};
use crate::hex::hex;
use crate::{Session, StoreError};

/// Rows that one statement deletes.
const BATCH_ROWS: i64 = 10_000;

/// The tool that gave memories to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServedBy {
    Context,
    Recall,
    Search,
}

/// Who is given memories, in which session and call, and when.
#[derive(Debug, Clone, Copy)]
pub struct Recipient<'a> {
    pub tenant: &'a TenantId,
    pub origin: &'a Origin,
    pub session: Option<&'a str>,
    pub now: Timestamp,
}

/// A call that gave memories to an agent, as `memory_bump` reads it.
#[derive(Debug, Clone, Serialize)]
pub struct Served {
    id: Uuid,
    kind: ServedBy,
    actor: Option<String>,
    session_id: Option<String>,
    request_id: Option<String>,
    query_hash: String,
    memory_types: Vec<MemoryType>,
    memory_ids: Vec<Uuid>,
    scores: Vec<Option<f64>>,
}

impl Served {
    /// Describes a call. `memories` are in the order of the response. Only a hash of the query is kept.
    pub fn new(
        kind: ServedBy,
        to: Recipient<'_>,
        query: &str,
        memories: impl Iterator<Item = (MemoryType, Uuid, Option<f64>)>,
    ) -> Self {
        // The hash includes the tenant, so that equal queries of two tenants do not look equal.
        let digest = Sha256::digest([to.tenant.as_str().as_bytes(), b"\0", query.as_bytes()].concat());
        let mut served = Self {
            id: new_id(to.now),
            kind,
            actor: to.origin.actor.clone(),
            session_id: to.session.map(str::to_owned),
            request_id: to.origin.request_id.clone(),
            query_hash: hex(&digest),
            memory_types: Vec::new(),
            memory_ids: Vec::new(),
            scores: Vec::new(),
        };
        for (kind, id, score) in memories {
            served.memory_types.push(kind);
            served.memory_ids.push(id);
            served.scores.push(score);
        }
        served
    }
}

/// Selects calls; `None` leaves a filter out.
#[derive(Debug, Clone, Default)]
pub struct InjectionFilter {
    pub session: Option<String>,
    /// Only calls that served this memory, each with this memory alone.
    pub memory: Option<Uuid>,
}

/// A call that gave memories to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Injection {
    pub id: Uuid,
    pub served_at: Timestamp,
    /// The tool that was called.
    pub kind: ServedBy,
    /// Who called: a token, a client or the butler.
    pub actor: Option<String>,
    /// `request_context.session_id` of the call, or the session of the hook or of `butler run`.
    pub session_id: Option<String>,
    /// `request_context.request_id` of the call. A hook names itself in it: `hook session-start`.
    pub request_id: Option<String>,
    /// Equal for equal queries of the tenant. Null after an erasure.
    pub query_hash: Option<String>,
    /// In the order of the response.
    pub memories: Vec<InjectedMemory>,
}

/// A memory that an agent was given, as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedMemory {
    pub memory_type: MemoryType,
    /// Null if the memory was erased.
    pub id: Option<Uuid>,
    /// The position in the response, from 1.
    pub rank: i64,
    /// The score at that time. Null if it was not ranked by a score.
    pub score: Option<f64>,
    /// `active`, `superseded`, `expired`, `retracted` or `forgotten`. Null if the memory is gone.
    pub state: Option<String>,
    /// A short text of it. Null if the memory no longer exists.
    pub label: Option<String>,
}

/// A page of the calls, newest first.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    filter: &InjectionFilter,
    page: Page,
    now: Timestamp,
) -> Result<Listed<Injection>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT id AS "id!", kind AS "kind!: Json<ServedBy>", actor, session_id, request_id, query_hash,
                          served_at AS "served_at!", memories AS "memories!: Json<Vec<InjectedMemory>>", total AS "total!"
                   FROM (SELECT id, to_jsonb(kind) AS kind, actor, session_id, request_id, query_hash, served_at, memories, total
                         FROM injections_listed($1, $2, $3, $4, $5, $6, $7, $8)) i
                   ORDER BY served_at DESC, id DESC"#,
                tenant.as_str(),
                now,
                filter.session.as_deref(),
                filter.memory,
                page.after.map(|(at, _)| at),
                page.after.map(|(_, id)| id),
                page.limit,
                page.offset,
            )
            .fetch_all(pg)
        })
        .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let rows = rows.into_iter().map(|row| Injection {
        id: row.id,
        served_at: row.served_at,
        kind: row.kind.0,
        actor: row.actor,
        session_id: row.session_id,
        request_id: row.request_id,
        query_hash: row.query_hash.as_deref().map(hex),
        memories: row.memories.0,
    });
    Ok(Listed { rows: rows.collect(), total })
}

/// Deletes a batch of the records from before a time, of all tenants. Returns how many.
pub async fn prune(session: &mut Session, before: Timestamp) -> Result<u64, StoreError> {
    let done = session
        .run(|pg| {
            sqlx::query!(
                "DELETE FROM injections WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM injections WHERE served_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))",
                before,
                BATCH_ROWS
            )
            .execute(pg)
        })
        .await?;
    Ok(done.rows_affected())
}
