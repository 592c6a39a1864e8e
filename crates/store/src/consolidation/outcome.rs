//! The result of a batch for its episodes. The lease token fences each write: it changes no episode that another worker has
//! leased meanwhile.

use butler_domain::consolidation::AfterFailure;
use butler_domain::{EpisodeId, Timestamp};
use uuid::Uuid;

use super::lease::uuids;
use crate::{StoreError, WriteContext};

/// Marks episodes as consolidated, in the transaction that applied the actions. Returns how many.
pub async fn consolidated(write: WriteContext<'_>, episodes: &[EpisodeId], token: Uuid) -> Result<u64, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let ids = uuids(episodes);
    let count = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT consolidate_episodes($1, $2, $3, $4, $5, $6) AS "count!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                &ids,
                token,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(count.unsigned_abs())
}

/// An episode whose attempt failed, and what happens to it next.
#[derive(Debug, Clone, Copy)]
pub struct Failed {
    pub id: EpisodeId,
    pub next: AfterFailure,
}

/// How many episodes are retried, and how many became dead letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailedCounts {
    pub failed: u64,
    pub dead_lettered: u64,
}

/// Records a failed attempt: each episode is retried later or becomes a dead letter.
pub async fn failed(
    write: WriteContext<'_>,
    episodes: &[Failed],
    error: &str,
    token: Uuid,
) -> Result<FailedCounts, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let ids: Vec<Uuid> = episodes.iter().map(|episode| episode.id.0).collect();
    let retries: Vec<Option<Timestamp>> = episodes
        .iter()
        .map(|episode| match episode.next {
            AfterFailure::RetryAt(at) => Some(at),
            AfterFailure::DeadLetter => None,
        })
        .collect();
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT failed AS "failed!", dead_lettered AS "dead_lettered!"
                   FROM fail_episodes($1, $2, $3, $4, $5, $6, $7, $8)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                &ids,
                &retries as &[Option<Timestamp>],
                error,
                token,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(FailedCounts { failed: row.failed.unsigned_abs(), dead_lettered: row.dead_lettered.unsigned_abs() })
}
