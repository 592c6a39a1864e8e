//! Forgetting an entity, with everything about it and the memories that name it; or erasing them.

use std::collections::HashSet;

use butler_domain::ids::new_id;
use butler_domain::{EntityId, MemoryType, TenantId, Timestamp};
use uuid::Uuid;

use super::{get, is_tombstone, lock_any, survivor};
use crate::{Session, StoreError, WriteContext};

/// A transaction that counts references to the same facts can deadlock with this one. PostgreSQL aborts one of them,
/// which is then repeated.
const ATTEMPTS: u32 = 5;

/// What to forget. Of the memories that only name the entity, `None` means all of a type.
#[derive(Debug, Clone)]
pub struct ForgetEntity {
    pub id: EntityId,
    /// Deletes the memories instead of retracting them.
    pub erase: bool,
    /// Only counts what would be forgotten.
    pub dry_run: bool,
    pub facts: Option<Vec<Uuid>>,
    pub rules: Option<Vec<Uuid>>,
    pub episodes: Option<Vec<Uuid>>,
}

/// Why a memory is found with an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// A fact about the entity.
    About,
    /// A relation to it.
    Edge,
    /// A memory that names it.
    Mention(MemoryType),
}

/// A memory found with an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub kind: TraceKind,
    pub id: Uuid,
    /// The beginning of its text.
    pub text: String,
    pub stored_at: Timestamp,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenEntity {
    pub canonical_name: String,
    /// Newest first in each kind.
    pub traces: Vec<Trace>,
    /// Past events that lost text.
    pub events_redacted: u64,
    /// When the entity or the oldest of the memories was stored.
    pub since: Timestamp,
}

/// The result of forgetting an entity. All outcomes but `Done` wrote nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityForgetting {
    Done(ForgottenEntity),
    NotFound,
    /// The entity was merged into another one.
    Merged {
        survivor: EntityId,
    },
    /// A chosen memory does not name the entity.
    NotListed {
        memory_type: MemoryType,
        id: Uuid,
    },
}

/// Forgets or erases an entity, in one transaction.
pub async fn forget(write: WriteContext<'_>, wanted: &ForgetEntity) -> Result<EntityForgetting, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut attempt = 1;
    loop {
        match attempt_forget(WriteContext { session, tenant, now, origin }, wanted).await {
            Err(error) if attempt < ATTEMPTS && error.was_aborted() => {
                attempt += 1;
            }
            outcome => return outcome,
        }
    }
}

async fn attempt_forget(write: WriteContext<'_>, wanted: &ForgetEntity) -> Result<EntityForgetting, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let mut tx = session.begin().await?;
    // It reads every memory and, to erase, every event of the tenant.
    tx.run(|pg| sqlx::raw_sql("SET LOCAL statement_timeout = 0").execute(pg)).await?;
    // A preview keeps nobody from writing.
    let entity = if wanted.dry_run {
        get(&mut tx, tenant, wanted.id).await?.map(|found| found.entity)
    } else {
        lock_any(&mut tx, tenant, &[wanted.id]).await?.pop()
    };
    let Some(entity) = entity else { return Ok(EntityForgetting::NotFound) };
    if is_tombstone(&entity) {
        let survivor = survivor(&mut tx, tenant, wanted.id).await?.unwrap_or(wanted.id);
        return Ok(EntityForgetting::Merged { survivor });
    }
    if !wanted.dry_run {
        // A worker that consolidates would store what it has read after the search below. This waits for it.
        tx.run(|pg| sqlx::query!("SELECT FROM end_leases($1)", tenant.as_str()).execute(pg)).await?;
    }
    let found = traces(&mut tx, tenant, wanted, now).await?;
    if let Some((memory_type, id)) = not_listed(&found, wanted) {
        return Ok(EntityForgetting::NotListed { memory_type, id });
    }
    let (chosen, kept): (Vec<Trace>, Vec<Trace>) = found.into_iter().partition(|trace| is_chosen(trace, wanted));
    let mut kept: Vec<Uuid> = kept.into_iter().map(|trace| trace.id).collect();
    kept.extend(about_namesakes(&mut tx, tenant, wanted.id).await?);
    let ids = Ids::of(&chosen);
    let events_redacted = match (wanted.erase, wanted.dry_run) {
        (true, true) => count_events(&mut tx, tenant, wanted.id, &ids, &kept).await?,
        (true, false) => erase(WriteContext { session: &mut tx, tenant, now, origin }, wanted.id, &ids, &kept).await?,
        (false, true) => 0,
        (false, false) => {
            retract(WriteContext { session: &mut tx, tenant, now, origin }, wanted.id, &ids).await?;
            0
        }
    };
    tx.commit().await?;
    let since = chosen.iter().map(|trace| trace.stored_at).chain([entity.created_at]).min();
    Ok(EntityForgetting::Done(ForgottenEntity {
        canonical_name: entity.canonical_name,
        traces: chosen,
        events_redacted,
        since: since.unwrap_or(now),
    }))
}

fn choice(wanted: &ForgetEntity, memory_type: MemoryType) -> Option<&Vec<Uuid>> {
    match memory_type {
        MemoryType::Fact => wanted.facts.as_ref(),
        MemoryType::Rule => wanted.rules.as_ref(),
        MemoryType::Episode => wanted.episodes.as_ref(),
    }
}

fn is_chosen(trace: &Trace, wanted: &ForgetEntity) -> bool {
    match trace.kind {
        TraceKind::About | TraceKind::Edge => true,
        TraceKind::Mention(memory_type) => choice(wanted, memory_type).is_none_or(|chosen| chosen.contains(&trace.id)),
    }
}

/// A chosen memory that is not among those that name the entity.
fn not_listed(found: &[Trace], wanted: &ForgetEntity) -> Option<(MemoryType, Uuid)> {
    [MemoryType::Fact, MemoryType::Rule, MemoryType::Episode].into_iter().find_map(|memory_type| {
        let mentions = found.iter().filter(|trace| trace.kind == TraceKind::Mention(memory_type));
        let listed: HashSet<Uuid> = mentions.map(|trace| trace.id).collect();
        let missing = choice(wanted, memory_type)?.iter().find(|id| !listed.contains(id))?;
        Some((memory_type, *missing))
    })
}

/// The chosen memories by type, in the order in which they are locked.
struct Ids {
    facts: Vec<Uuid>,
    rules: Vec<Uuid>,
    episodes: Vec<Uuid>,
}

impl Ids {
    fn of(chosen: &[Trace]) -> Self {
        let pick = |wanted: MemoryType| {
            let of_type = |trace: &&Trace| match trace.kind {
                TraceKind::About | TraceKind::Edge => wanted == MemoryType::Fact,
                TraceKind::Mention(memory_type) => wanted == memory_type,
            };
            let mut ids: Vec<Uuid> = chosen.iter().filter(of_type).map(|trace| trace.id).collect();
            ids.sort_unstable();
            ids
        };
        Self { facts: pick(MemoryType::Fact), rules: pick(MemoryType::Rule), episodes: pick(MemoryType::Episode) }
    }
}

async fn traces(
    session: &mut Session,
    tenant: &TenantId,
    wanted: &ForgetEntity,
    now: Timestamp,
) -> Result<Vec<Trace>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT role AS "role!", kind AS "kind!", id AS "id!", body AS "body!", stored_at AS "stored_at!"
                   FROM entity_traces($1, $2, $3, $4)"#,
                tenant.as_str(),
                wanted.id.0,
                wanted.erase,
                now,
            )
            .fetch_all(pg)
        })
        .await?;
    let trace = |role: &str, kind: &str| match (role, kind) {
        ("about", _) => TraceKind::About,
        ("edge", _) => TraceKind::Edge,
        (_, "rule") => TraceKind::Mention(MemoryType::Rule),
        (_, "episode") => TraceKind::Mention(MemoryType::Episode),
        _ => TraceKind::Mention(MemoryType::Fact),
    };
    let rows = rows.into_iter();
    Ok(rows
        .map(|row| Trace { kind: trace(&row.role, &row.kind), id: row.id, text: row.body, stored_at: row.stored_at })
        .collect())
}

async fn retract(write: WriteContext<'_>, id: EntityId, ids: &Ids) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM forget_entity($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
                &ids.facts,
                &ids.rules,
                &ids.episodes,
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// Returns how many past events lost text.
async fn erase(write: WriteContext<'_>, id: EntityId, ids: &Ids, kept: &[Uuid]) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let redacted = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT erase_entity($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS "redacted!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
                &ids.facts,
                &ids.rules,
                &ids.episodes,
                kept,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(redacted.unsigned_abs())
}

/// Other entities that share a name with this one, and the facts about them.
async fn about_namesakes(session: &mut Session, tenant: &TenantId, id: EntityId) -> Result<Vec<Uuid>, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT o AS "id!" FROM unnest(namesakes($1, entity_family($1, $2))) AS o
                   UNION ALL
                   SELECT f.id FROM facts f
                   WHERE f.tenant_id = $1 AND f.entity_id = ANY (namesakes($1, entity_family($1, $2)))"#,
                tenant.as_str(),
                id.0,
            )
            .fetch_all(pg)
        })
        .await
}

/// How many past events an erasure would change.
async fn count_events(
    session: &mut Session,
    tenant: &TenantId,
    id: EntityId,
    ids: &Ids,
    kept: &[Uuid],
) -> Result<u64, StoreError> {
    let memories = [&ids.facts[..], &ids.rules, &ids.episodes].concat();
    let redacted = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT r.redacted AS "redacted!"
                   FROM entity_family($1, $2) AS family, entity_patterns($1, family) AS names,
                        redact_events($1, $3 || family, names.whole, names.parts, $4, true) AS r"#,
                tenant.as_str(),
                id.0,
                &memories,
                kept,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(redacted.unsigned_abs())
}
