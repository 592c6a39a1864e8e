//! Confirming a memory restarts its decay. Episodes that confirm it are linked to it with the relation `supports`.

use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, FactId, RuleId};
use uuid::Uuid;

use crate::{StoreError, WriteContext};

/// The result of a confirmation.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmOutcome {
    Confirmed {
        confidence: f64,
        /// Whether the memory was fading.
        was_fading: bool,
    },
    /// The memory is superseded, expired, retracted or forgotten. Nothing was written.
    NotActive { state: String },
}

fn outcome(confirmed: bool, state: String, confidence: f64, was_fading: bool) -> ConfirmOutcome {
    if confirmed { ConfirmOutcome::Confirmed { confidence, was_fading } } else { ConfirmOutcome::NotActive { state } }
}

fn uuids(episodes: &[EpisodeId]) -> Vec<Uuid> {
    episodes.iter().map(|id| id.0).collect()
}

/// Confirms a fact; `None` if this tenant has no such fact.
pub async fn fact(
    write: WriteContext<'_>,
    id: FactId,
    episodes: &[EpisodeId],
) -> Result<Option<ConfirmOutcome>, StoreError> {
    let episodes = uuids(episodes);
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT confirmed AS "confirmed!", state AS "state!", confidence AS "confidence!", was_fading AS "was_fading!"
                   FROM confirm_fact($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
                &episodes,
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| outcome(row.confirmed, row.state, row.confidence, row.was_fading)))
}

/// Confirms a rule; `None` if this tenant has no such rule.
pub async fn rule(
    write: WriteContext<'_>,
    id: RuleId,
    episodes: &[EpisodeId],
) -> Result<Option<ConfirmOutcome>, StoreError> {
    let episodes = uuids(episodes);
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT confirmed AS "confirmed!", state AS "state!", confidence AS "confidence!", was_fading AS "was_fading!"
                   FROM confirm_rule($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                new_id(now),
                id.0,
                &episodes,
            )
            .fetch_optional(pg)
        })
        .await?;
    Ok(row.map(|row| outcome(row.confirmed, row.state, row.confidence, row.was_fading)))
}
