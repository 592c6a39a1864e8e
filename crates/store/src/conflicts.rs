//! Pairs of facts that contradict or repeat each other: finding, listing and resolving them.

pub mod judge;

use butler_domain::conflicts::{ConflictReason, Kind, Related, Side};
use butler_domain::ids::new_id;
use butler_domain::{FactId, Source, TenantId, Timestamp, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::types::Json;
use uuid::Uuid;

use crate::{Session, StoreError, WriteContext};

/// A fact that may be in conflict with another one.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The fact it was found for.
    pub of: FactId,
    pub id: FactId,
    pub related: Related,
    pub side: Side,
    /// `None`: two models embedded the facts.
    pub similarity: Option<f64>,
}

/// The facts that may be in conflict with each of these facts, except the pairs that are recorded. `wide` also compares
/// with facts about other things, which only the owner's session may do.
pub async fn candidates(
    session: &mut Session,
    tenant: &TenantId,
    facts: &[FactId],
    wide: bool,
) -> Result<Vec<Candidate>, StoreError> {
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.0).collect();
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT f.id AS "of!", c.id AS "id!", c.relation AS "relation!", c.subject AS "subject!",
                          c.predicate AS "predicate!", c.content AS "content!", c.similarity
                   FROM unnest($2::uuid[]) AS f (id), conflict_candidates($1, f.id, $3) AS c"#,
                tenant.as_str(),
                &ids,
                wide,
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let related = row.relation.parse().map_err(|error: butler_domain::UnknownName| StoreError::BadData {
                table: "conflict_candidates",
                column: "relation",
                id: row.id.to_string(),
                reason: error.to_string(),
            })?;
            Ok(Candidate {
                of: FactId(row.of),
                id: FactId(row.id),
                related,
                side: Side { subject: row.subject, predicate: row.predicate, content: row.content },
                similarity: row.similarity,
            })
        })
        .collect()
}

/// What found a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    Store,
    Job,
    Judge,
}

impl FoundBy {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Job => "job",
            Self::Judge => "judge",
        }
    }
}

/// A conflict to record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewConflict {
    pub newer: FactId,
    pub older: FactId,
    pub kind: Kind,
    pub why: ConflictReason,
    pub score: Option<f64>,
}

#[derive(Serialize)]
struct NewConflictRow {
    id: Uuid,
    event_id: Uuid,
    newer: FactId,
    older: FactId,
    kind: Kind,
    why: ConflictReason,
    score: Option<f64>,
}

/// Records conflicts, with a link and an event each, and returns how many of them are new.
pub async fn record(write: WriteContext<'_>, by: FoundBy, found: &[NewConflict]) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let rows: Vec<NewConflictRow> = found
        .iter()
        .map(|&NewConflict { newer, older, kind, why, score }| NewConflictRow {
            id: new_id(now),
            event_id: new_id(now),
            newer,
            older,
            kind,
            why,
            score,
        })
        .collect();
    let recorded = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT record_conflicts($1, $2, $3, $4, $5, $6) AS "recorded!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                by.as_str(),
                Json(&rows) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(u64::from(recorded.unsigned_abs()))
}

/// Active facts with what they say: those stored since a time, then those that an import brought and nobody compared yet; the
/// newest first. What a large import brought waits for the next run.
pub async fn to_compare(
    session: &mut Session,
    tenant: &TenantId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<(FactId, Side)>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT f.id AS "id!", f.subject AS "subject!", f.predicate AS "predicate!", f.content AS "content!"
                FROM (SELECT d.fact_id AS id, true AS due FROM conflicts_due d WHERE d.tenant_id = $1
                      UNION
                      SELECT r.id, false FROM facts r
                      WHERE r.tenant_id = $1 AND r.validity = 'active' AND r.created_at >= $2
                        AND NOT EXISTS (SELECT FROM conflicts_due d WHERE d.tenant_id = $1 AND d.fact_id = r.id)) c
                JOIN facts f ON f.tenant_id = $1 AND f.id = c.id AND f.validity = 'active'
                ORDER BY c.due, f.created_at DESC, f.id LIMIT $3
                "#,
                tenant.as_str(),
                since,
                limit,
            )
            .fetch_all(pg)
        })
        .await?;
    let side = |subject, predicate, content| Side { subject, predicate, content };
    Ok(rows.into_iter().map(|row| (FactId(row.id), side(row.subject, row.predicate, row.content))).collect())
}

/// Notes that these facts were compared. Those that are no longer active need not be.
pub async fn compared(session: &mut Session, tenant: &TenantId, facts: &[FactId]) -> Result<(), StoreError> {
    let ids: Vec<Uuid> = facts.iter().map(|id| id.0).collect();
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                DELETE FROM conflicts_due d
                WHERE d.tenant_id = $1
                  AND (d.fact_id = ANY ($2)
                       OR EXISTS (SELECT FROM facts f WHERE f.tenant_id = $1 AND f.id = d.fact_id AND f.validity <> 'active'))
                "#,
                tenant.as_str(),
                &ids,
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// One of the two facts of a conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSide {
    pub id: Uuid,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub scope: String,
    /// active, superseded, expired or retracted.
    pub validity: String,
    /// Where it comes from: the least trusted of who stored it and the episodes it is derived from.
    pub source: Source,
    /// The butler it comes from.
    pub source_butler: Option<String>,
    pub source_episode_id: Option<Uuid>,
    pub created_at: Timestamp,
    pub last_confirmed_at: Option<Timestamp>,
    /// Its confidence after decay, 0 to 1.
    pub effective_confidence: f64,
}

/// Two facts that contradict or repeat each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    pub id: Uuid,
    pub kind: Kind,
    pub why: ConflictReason,
    /// The cosine similarity of the two statements.
    pub score: Option<f64>,
    pub detected_at: Timestamp,
    pub found_by: FoundBy,
    /// How it was resolved: keep_a, keep_b, keep_both, merge or forget_both. Null while it is open.
    pub resolution: Option<String>,
    pub resolved_at: Option<Timestamp>,
    pub resolved_by: Option<String>,
    /// What a language model says the pair is, if one judged it.
    pub verdict: Option<Verdict>,
    /// Why, in the words of the language model.
    pub reason: Option<String>,
    pub judged_at: Option<Timestamp>,
    pub a: ConflictSide,
    pub b: ConflictSide,
}

/// Which conflicts to list.
#[derive(Debug, Clone, Copy)]
pub struct Listing {
    /// The open ones, of which both facts are active. Otherwise the resolved ones.
    pub open: bool,
    /// Only this one.
    pub id: Option<Uuid>,
    pub limit: i64,
    pub offset: i64,
}

/// A page of conflicts, the newest first, and how many there are.
pub async fn list(
    session: &mut Session,
    tenant: &TenantId,
    now: Timestamp,
    listing: Listing,
) -> Result<(Vec<Conflict>, i64), StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT conflict AS "conflict!: Json<Conflict>", total AS "total!"
                   FROM conflicts_listed($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                now,
                listing.open,
                listing.id,
                listing.limit,
                listing.offset,
            )
            .fetch_all(pg)
        })
        .await?;
    let total = rows.first().map_or(0, |row| row.total);
    Ok((rows.into_iter().map(|row| row.conflict.0).collect(), total))
}

/// A conflict that nobody else resolves until the transaction ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedConflict {
    pub a: FactId,
    pub b: FactId,
    pub is_open: bool,
    /// The facts that its resolution made inactive, and that nobody has changed since.
    pub ended: Vec<FactId>,
}

/// `None`: the tenant has no such conflict.
pub async fn lock(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Option<LockedConflict>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT fact_a, fact_b, state = 'open' AS "is_open!",
                       ARRAY(SELECT e.memory_id FROM memory_events e
                             WHERE e.tenant_id = $1 AND e.memory_type = 'fact' AND e.memory_id IN (fact_a, fact_b)
                               AND e.event_type IN ('fact_forgotten', 'fact_superseded', 'fact_expired', 'fact_restored')
                             GROUP BY e.memory_id HAVING max(e.created_at) = c.resolved_at
                             ORDER BY e.memory_id = fact_b) AS "ended!: Vec<Uuid>"
                FROM conflicts c WHERE tenant_id = $1 AND id = $2 FOR UPDATE
                "#,
                tenant.as_str(),
                id,
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| LockedConflict {
        a: FactId(row.fact_a),
        b: FactId(row.fact_b),
        is_open: row.is_open,
        ended: row.ended.into_iter().map(FactId).collect(),
    }))
}

/// Records how a conflict was resolved, in the transaction that changed its facts.
pub async fn close(
    write: WriteContext<'_>,
    id: Uuid,
    resolution: &str,
    result: Option<FactId>,
) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM close_conflict($1, $2, $3, $4, $5, $6, $7, $8)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id,
                resolution,
                result.map(|id| id.0),
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Opens a resolved conflict again. False: it is open. `None`: the tenant has no such conflict.
pub async fn reopen(write: WriteContext<'_>, id: Uuid) -> Result<Option<bool>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT reopen_conflict($1, $2, $3, $4, $5, $6)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id,
            )
            .fetch_one(pg)
        })
        .await
}
