//! Confirming a memory restarts its decay.

use butler_domain::ids::new_id;
use butler_domain::{FactId, RuleId};

use crate::{StoreError, WriteContext};

#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmOutcome {
    Confirmed {
        confidence: f64,
        /// Whether the memory had decayed so far that it was about to end.
        was_fading: bool,
    },
    /// The memory is superseded, expired, retracted or forgotten and stays so; nothing was written.
    NotActive { state: String },
}

fn outcome(confirmed: bool, state: String, confidence: f64, was_fading: bool) -> ConfirmOutcome {
    if confirmed { ConfirmOutcome::Confirmed { confidence, was_fading } } else { ConfirmOutcome::NotActive { state } }
}

/// Confirms a fact. `None`: this tenant has no such fact.
pub async fn fact(write: WriteContext<'_>, id: FactId) -> Result<Option<ConfirmOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT confirmed AS "confirmed!", state AS "state!", confidence AS "confidence!", was_fading AS "was_fading!"
                   FROM confirm_fact($1, $2, $3, $4, $5, $6)"#,
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
    Ok(row.map(|row| outcome(row.confirmed, row.state, row.confidence, row.was_fading)))
}

/// Confirms a rule. `None`: this tenant has no such rule.
pub async fn rule(write: WriteContext<'_>, id: RuleId) -> Result<Option<ConfirmOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT confirmed AS "confirmed!", state AS "state!", confidence AS "confidence!", was_fading AS "was_fading!"
                   FROM confirm_rule($1, $2, $3, $4, $5, $6)"#,
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
    Ok(row.map(|row| outcome(row.confirmed, row.state, row.confidence, row.was_fading)))
}
