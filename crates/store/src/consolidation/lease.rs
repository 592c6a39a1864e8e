//! Leases on episodes. A worker writes only while the rows carry its token, and the lease of a worker that died
//! expires. Only one batch per tenant and butler is leased at a time, so that later events are learned later.

use butler_domain::{Butler, EpisodeId, TenantId, Timestamp};
use serde::Serialize;
use uuid::Uuid;

use crate::{Session, StoreError, Tx};

/// Episodes that expire within this many hours go first.
const NEAR_EXPIRY_HOURS: i32 = 24;

/// The episodes of one tenant and butler that wait.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub tenant: TenantId,
    pub butler: Butler,
    /// Episodes to consolidate now.
    pub due: i64,
    /// Episodes that failed before and are retried later.
    pub waiting: i64,
    /// Episodes that a worker has leased.
    pub leased: i64,
}

/// An episode of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Leased {
    pub id: EpisodeId,
    pub content: String,
    pub importance: f64,
    pub retry_count: u32,
    pub created_at: Timestamp,
    pub occurred_at: Timestamp,
    /// Whether the text is untrusted. All episodes of a batch agree in this.
    pub untrusted: bool,
}

/// The groups with waiting episodes, in a fixed order: of one tenant, or of all on the owner's session. A group with
/// invalid names is a separate error, so that it does not stop the others.
pub async fn groups(
    session: &mut Session,
    tenant: Option<&TenantId>,
    now: Timestamp,
) -> Result<Vec<Result<Group, StoreError>>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT tenant_id, butler,
                       count(*) FILTER (WHERE NOT leased AND NOT later) AS "due!",
                       count(*) FILTER (WHERE NOT leased AND later) AS "waiting!",
                       count(*) FILTER (WHERE leased) AS "leased!"
                FROM (SELECT tenant_id, butler, coalesce(lease_holds(leased_until, $2), false) AS leased,
                             coalesce(retry_is_later(next_consolidation_retry_at, $2), false) AS later
                      FROM episodes
                      WHERE consolidation_status IN ('pending', 'failed') AND ($1::text IS NULL OR tenant_id = $1)
                        AND held_for IS NULL
                        AND episode_is_learnable(tenant_id, id, expires_at, $2)) e
                GROUP BY tenant_id, butler ORDER BY tenant_id, butler
                "#,
                tenant.map(TenantId::as_str),
                now
            )
            .fetch_all(pg)
        })
        .await?;
    let groups = rows
        .into_iter()
        .map(|row| {
            let bad = |column, error: butler_domain::tenant::NameError| StoreError::BadData {
                table: "episodes",
                column,
                id: format!("{}/{}", row.tenant_id, row.butler),
                reason: error.to_string(),
            };
            Ok(Group {
                tenant: TenantId::new(row.tenant_id.clone()).map_err(|error| bad("tenant_id", error))?,
                butler: Butler::new(row.butler.clone()).map_err(|error| bad("butler", error))?,
                due: row.due,
                waiting: row.waiting,
                leased: row.leased,
            })
        })
        .collect();
    Ok(groups)
}

/// Leases the next batch, oldest first, but episodes that expire soon before the others. It is empty if nothing is due
/// or another worker has leased a batch of this group.
///
/// Trusted and untrusted episodes never share a batch.
///
/// A batch that failed is retried in halves, so that one episode that no model can process does not block the others.
pub async fn take(
    session: &mut Session,
    tenant: &TenantId,
    butler: &Butler,
    token: Uuid,
    until: Timestamp,
    limit: i64,
    now: Timestamp,
) -> Result<Vec<Leased>, StoreError> {
    let mut tx = session.begin().await?;
    // A separate statement, because the next one must see what the previous holder of the lock committed.
    lock_group(&mut tx, tenant, butler).await?;
    let rows = tx
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH open AS (
                    SELECT id, retry_count, created_at, source = 'untrusted' AS untrusted,
                           coalesce(expires_at <= $3::timestamptz + make_interval(hours => $7), false) AS ends_soon
                    FROM episodes
                    WHERE tenant_id = $1 AND butler = $2 AND consolidation_status IN ('pending', 'failed') AND held_for IS NULL
                      AND NOT coalesce(retry_is_later(next_consolidation_retry_at, $3), false)
                      AND episode_is_learnable(tenant_id, id, expires_at, $3)
                      AND NOT EXISTS (SELECT FROM episodes other
                                      WHERE other.tenant_id = $1 AND other.butler = $2 AND lease_holds(other.leased_until, $3)
                                        AND other.consolidation_status IN ('pending', 'failed'))
                ), first AS (
                    SELECT retry_count, untrusted FROM open ORDER BY ends_soon DESC, created_at, id LIMIT 1
                ), due AS (
                    SELECT e.id FROM episodes e JOIN open USING (id)
                    JOIN first ON first.retry_count = open.retry_count AND first.untrusted = open.untrusted
                    ORDER BY open.ends_soon DESC, e.created_at, e.id
                    LIMIT (SELECT greatest(1, $6::bigint >> least(retry_count, 30)) FROM first)
                    FOR UPDATE OF e SKIP LOCKED
                )
                UPDATE episodes e SET lease_token = $4, leased_until = $5 FROM due WHERE e.tenant_id = $1 AND e.id = due.id
                RETURNING e.id, e.content, e.importance, e.retry_count, e.created_at, e.occurred_at, e.source = 'untrusted' AS "untrusted!"
                "#,
                tenant.as_str(),
                butler.as_str(),
                now,
                token,
                until,
                limit,
                NEAR_EXPIRY_HOURS,
            )
            .fetch_all(pg)
        })
        .await?;
    tx.commit().await?;
    let mut leased: Vec<Leased> = rows
        .into_iter()
        .map(|row| Leased {
            id: EpisodeId(row.id),
            content: row.content,
            importance: row.importance,
            retry_count: row.retry_count.unsigned_abs(),
            created_at: row.created_at,
            occurred_at: row.occurred_at,
            untrusted: row.untrusted,
        })
        .collect();
    leased.sort_by_key(|episode| (episode.occurred_at, episode.id));
    Ok(leased)
}

/// Waits for the lock of a group until the end of the transaction.
async fn lock_group(tx: &mut Tx<'_>, tenant: &TenantId, butler: &Butler) -> Result<(), StoreError> {
    tx.run(|pg| {
        sqlx::query!(
            "SELECT pg_advisory_xact_lock(hashtextextended(concat_ws(E'\\x1f', current_schema(), $1::text, $2::text), 31))",
            tenant.as_str(),
            butler.as_str()
        )
        .fetch_one(pg)
    })
    .await?;
    Ok(())
}

/// Extends the lease while the model works. Returns how many episodes it still covers.
pub async fn renew(
    session: &mut Session,
    tenant: &TenantId,
    episodes: &[EpisodeId],
    token: Uuid,
    until: Timestamp,
) -> Result<u64, StoreError> {
    let ids = uuids(episodes);
    let done = session
        .run(|pg| {
            sqlx::query!(
                "UPDATE episodes SET leased_until = $4 WHERE tenant_id = $1 AND id = ANY ($2) AND lease_token = $3",
                tenant.as_str(),
                &ids,
                token,
                until
            )
            .execute(pg)
        })
        .await?;
    Ok(done.rows_affected())
}

/// Returns episodes unchanged, because they did not fit the prompt or the server stops.
pub async fn release(
    session: &mut Session,
    tenant: &TenantId,
    episodes: &[EpisodeId],
    token: Uuid,
) -> Result<u64, StoreError> {
    let ids = uuids(episodes);
    let done = session
        .run(|pg| {
            sqlx::query!(
                "UPDATE episodes SET lease_token = NULL, leased_until = NULL
                 WHERE tenant_id = $1 AND id = ANY ($2) AND lease_token = $3",
                tenant.as_str(),
                &ids,
                token
            )
            .execute(pg)
        })
        .await?;
    Ok(done.rows_affected())
}

/// Locks the leased rows until the end of the transaction, so that nobody else can lease them. Returns `None` if the
/// lease is lost; then nothing may be written. Episodes that were removed are left out.
pub async fn hold(
    session: &mut Session,
    tenant: &TenantId,
    episodes: &[EpisodeId],
    token: Uuid,
) -> Result<Option<Vec<EpisodeId>>, StoreError> {
    let ids = uuids(episodes);
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT id, (lease_token IS NOT DISTINCT FROM $3) AS "mine!" FROM episodes
                   WHERE tenant_id = $1 AND id = ANY ($2) ORDER BY id FOR UPDATE"#,
                tenant.as_str(),
                &ids,
                token
            )
            .fetch_all(pg)
        })
        .await?;
    if rows.is_empty() || rows.iter().any(|row| !row.mine) {
        return Ok(None);
    }
    Ok(Some(rows.into_iter().map(|row| EpisodeId(row.id)).collect()))
}

pub(super) fn uuids(episodes: &[EpisodeId]) -> Vec<Uuid> {
    episodes.iter().map(|id| id.0).collect()
}
