//! Undoes a person's decision about a proposal.

use butler_domain::instructions::suspicious;
use butler_domain::{EpisodeId, FactId, MemoryType, RuleId, Validity};
use butler_store::forget::{self, ForgetOutcome};
use butler_store::restore::{self, RestoreOutcome};
use butler_store::{Session, proposals, tombstones};
use serde_json::json;
use uuid::Uuid;

use crate::restore::key_taken;
use crate::review::Decided;
use crate::{Call, Memory, MemoryError};

impl Memory {
    /// Whether the tenant has a proposal, or an episode that is or was held, of this id.
    pub async fn has_decision(&self, call: &Call, id: Uuid) -> Result<bool, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(proposals::was_held(&mut conn, &call.tenant, id).await?)
    }

    /// Undoes an approval or a rejection in one transaction, so that the proposal waits again. The approved memory is
    /// forgotten, and the fact that it had replaced is active again. Returns `None` if there is no such proposal.
    pub async fn undo_decision(&self, call: &Call, id: Uuid) -> Result<Option<Decided>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut tx = conn.begin().await?;
        let Some(reopened) = proposals::reopen(call.write(&mut tx), id).await? else {
            drop(tx);
            return self.hold_again(call, &mut conn, EpisodeId(id)).await;
        };
        if reopened.was == "approved" {
            match reopened.memory_type.as_str() {
                "fact" => self.take_back_fact(call, &mut tx, FactId(id)).await?,
                _ => take_back_rule(call, &mut tx, RuleId(id)).await?,
            }
        }
        tx.commit().await?;
        Ok(Some(waits_again(reopened.id, reopened.was != "open")))
    }

    /// An approval that confirmed a known fact stored none of its own: then nothing is taken back.
    async fn take_back_fact(&self, call: &Call, tx: &mut Session, id: FactId) -> Result<(), MemoryError> {
        let Some(known) = butler_store::browse::facts::one(tx, &call.tenant, id.0, call.now).await? else {
            return Ok(());
        };
        if known.fact.validity != Validity::Active {
            return Err(changed_since(id.0));
        }
        let previous = forget::fact(call.write(tx), id).await?.and_then(|(_, previous)| previous);
        tombstones::leave_none(call.write(tx), MemoryType::Fact, id.0).await?;
        let Some(previous) = previous else { return Ok(()) };
        let expiry = self.config().confidence.expiry_threshold;
        match restore::fact(call.write(tx), previous, expiry).await? {
            Some(RestoreOutcome::KeyTaken { by }) => Err(key_taken(by)),
            _ => Ok(()),
        }
    }

    /// Consolidation leaves the episode out again.
    async fn hold_again(&self, call: &Call, conn: &mut Session, id: EpisodeId) -> Result<Option<Decided>, MemoryError> {
        let Some(text) = proposals::episode_text(conn, &call.tenant, id).await? else { return Ok(None) };
        let reasons = json!(suspicious(&text));
        if proposals::hold(call.write(conn), id, &reasons).await? {
            return Ok(Some(waits_again(id.0, true)));
        }
        Err(MemoryError::InvalidState {
            message: format!("episode {id} is consolidated by now"),
            hint: "decide on what was learned from it, which waits in the inbox".to_owned(),
        })
    }
}

async fn take_back_rule(call: &Call, tx: &mut Session, id: RuleId) -> Result<(), MemoryError> {
    match forget::rule(call.write(tx), id).await? {
        None => Ok(()),
        Some(ForgetOutcome::AlreadyForgotten) => Err(changed_since(id.0)),
        Some(ForgetOutcome::Forgotten) => {
            tombstones::leave_none(call.write(tx), MemoryType::Rule, id.0).await?;
            Ok(())
        }
    }
}

fn waits_again(id: Uuid, changed: bool) -> Decided {
    Decided { id, memory_id: None, state: "open".to_owned(), changed }
}

fn changed_since(id: Uuid) -> MemoryError {
    MemoryError::InvalidState {
        message: format!("{id} was changed after its approval, so the approval is not undone"),
        hint: "forget or edit the memory instead".to_owned(),
    }
}
