//! The decay sweep: memories whose confidence has decayed fade and then end. Memories that were confirmed since
//! recover, and so do those that ended by mistake.

use butler_domain::TenantId;
use butler_domain::decay::DecayThresholds;
use uuid::Uuid;

use crate::{JobContext, StoreError};

/// Rows examined in one call. It holds its row locks for some tens of milliseconds, so no writer waits longer.
pub const BATCH_ROWS: i64 = 5_000;

/// The changes of one batch, and where the next batch starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Facts expired, or rules forgotten.
    pub ended: u64,
    pub fading: u64,
    pub recovered: u64,
    /// `None` after the last batch.
    pub next: Option<Uuid>,
}

/// The rows that one call examines.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// The last id of the previous batch.
    pub after: Option<Uuid>,
    pub rows: i64,
}

/// Applies decay to one batch of facts. Rows that another writer has locked are left for the next sweep.
pub async fn facts(job: JobContext<'_>, batch: Batch, thresholds: DecayThresholds) -> Result<Swept, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT next, ended AS "ended!", fading AS "fading!", recovered AS "recovered!"
                   FROM sweep_facts($1, $2, $3, $4, $5, $6, $7, $8)"#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                batch.after.unwrap_or_default(),
                batch.rows,
                thresholds.retrieval,
                thresholds.expiry,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Swept {
        ended: row.ended.unsigned_abs(),
        fading: row.fading.unsigned_abs(),
        recovered: row.recovered.unsigned_abs(),
        next: row.next,
    })
}

/// Moves current values whose period has ended to the past, and values that start now to the present. Returns how many
/// keys changed.
pub async fn settle(job: JobContext<'_>, rows: i64) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let settled = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT settle_facts($1, $2, $3, $4, $5) AS "settled!""#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                rows,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(settled.unsigned_abs())
}

/// Applies decay to one batch of rules. Anti-patterns, forgotten rules and permanent rules are left out.
pub async fn rules(job: JobContext<'_>, batch: Batch, thresholds: DecayThresholds) -> Result<Swept, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT next, ended AS "ended!", fading AS "fading!", recovered AS "recovered!"
                   FROM sweep_rules($1, $2, $3, $4, $5, $6, $7, $8)"#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                batch.after.unwrap_or_default(),
                batch.rows,
                thresholds.retrieval,
                thresholds.expiry,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Swept {
        ended: row.ended.unsigned_abs(),
        fading: row.fading.unsigned_abs(),
        recovered: row.recovered.unsigned_abs(),
        next: row.next,
    })
}

/// Reactivates facts of one batch that expired although their confidence suffices, if their key is free.
pub async fn recover_facts(job: JobContext<'_>, batch: Batch, thresholds: DecayThresholds) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let recovered = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT recover_facts($1, $2, $3, $4, $5, $6, $7, $8) AS "recovered!""#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                batch.after.unwrap_or_default(),
                batch.rows,
                thresholds.retrieval,
                thresholds.expiry,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(recovered.unsigned_abs())
}

/// Makes rules of one batch retrievable again that decay ended although their confidence suffices.
pub async fn recover_rules(job: JobContext<'_>, batch: Batch, thresholds: DecayThresholds) -> Result<u64, StoreError> {
    let JobContext { session, tenant, now, origin } = job;
    let recovered = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT recover_rules($1, $2, $3, $4, $5, $6, $7, $8) AS "recovered!""#,
                tenant.map(TenantId::as_str),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                batch.after.unwrap_or_default(),
                batch.rows,
                thresholds.retrieval,
                thresholds.expiry,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(recovered.unsigned_abs())
}
