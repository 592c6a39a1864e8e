//! Forgetting a memory: it is kept, but never retrieved again.

use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, FactId, RuleId};

use crate::{StoreError, WriteContext};

/// Whether the call changed anything. Forgetting twice is no error and records one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgetOutcome {
    Forgotten,
    AlreadyForgotten,
}

fn outcome(changed: bool) -> ForgetOutcome {
    if changed { ForgetOutcome::Forgotten } else { ForgetOutcome::AlreadyForgotten }
}

/// Retracts a fact, whether it is active, superseded or expired. Also returns the version that it had replaced, if it
/// was the newest one; `None` if this tenant has no such fact.
pub async fn fact(write: WriteContext<'_>, id: FactId) -> Result<Option<(ForgetOutcome, Option<FactId>)>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT changed AS "changed!", previous_id FROM forget_fact($1, $2, $3, $4, $5, $6)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| (outcome(row.changed), row.previous_id.map(FactId))))
}

/// Marks a rule as forgotten; `None` if this tenant has no such rule.
pub async fn rule(write: WriteContext<'_>, id: RuleId) -> Result<Option<ForgetOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let changed = session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT forget_rule($1, $2, $3, $4, $5, $6)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(changed.map(outcome))
}

/// Ends an episode now; cleanup removes it later. Returns `None` if this tenant has no such episode.
pub async fn episode(write: WriteContext<'_>, id: EpisodeId) -> Result<Option<ForgetOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let changed = session
        .run(|pg| {
            sqlx::query_scalar!(
                "SELECT forget_episode($1, $2, $3, $4, $5, $6)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(changed.map(outcome))
}
