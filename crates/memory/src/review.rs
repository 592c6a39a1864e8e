//! What waits for a person: proposals of facts and rules, episodes that look like instructions, and tombstones.

use butler_domain::instructions::{Reason, suspicious};
use butler_domain::text::fact_text;
use butler_domain::{EpisodeId, Source, Timestamp};
use butler_store::browse::{Listed, Page};
use butler_store::forget::ForgetOutcome;
use butler_store::proposals::{self, Approved, Waiting};
use butler_store::tombstones::{self, Tombstone};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::remember::{ATTEMPTS, is_race};
use crate::{Call, Memory, MemoryError};

/// A fact or rule that takes effect only if a person approves it, or an episode that nothing is learned from before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Proposal {
    pub id: Uuid,
    /// `fact`, `rule` or `episode`.
    pub memory_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    pub content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    pub source: Source,
    /// Who proposed it; of an episode, its butler.
    pub proposed_by: Option<String>,
    pub created_at: Timestamp,
    /// The episodes that it is derived from.
    pub episode_ids: Vec<Uuid>,
    /// The fact that it would replace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Uuid>,
    /// What in it looks like an instruction to the agent.
    pub reasons: Vec<Reason>,
}

impl From<Waiting> for Proposal {
    fn from(waiting: Waiting) -> Self {
        let recorded = waiting.held_for.and_then(|reasons| serde_json::from_value(reasons).ok());
        Self {
            reasons: recorded.unwrap_or_else(|| suspicious(&waiting.content)),
            id: waiting.id,
            memory_type: waiting.memory_type,
            subject: waiting.subject,
            predicate: waiting.predicate,
            content: waiting.content,
            scope: waiting.scope,
            source: waiting.source,
            proposed_by: waiting.proposed_by,
            created_at: waiting.created_at,
            episode_ids: waiting.episode_ids,
            replaces: waiting.replaces,
        }
    }
}

/// The outcome of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Decided {
    pub id: Uuid,
    /// The fact or rule that is now active, or the episode that is consolidated next. Null after a rejection.
    pub memory_id: Option<Uuid>,
    /// `approved` or `rejected`; `open` after an undo.
    pub state: String,
    /// False if a person had decided the same before, or if there was nothing to undo.
    pub changed: bool,
}

/// The outcome of allowing something again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AllowedAgain {
    pub id: Uuid,
    /// False if it was allowed before.
    pub changed: bool,
}

impl Memory {
    /// What waits for a decision, oldest first.
    pub async fn proposals(&self, call: &Call, page: Page) -> Result<Listed<Proposal>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let Listed { rows, total } = proposals::list(&mut conn, &call.tenant, page, call.now).await?;
        Ok(Listed { rows: rows.into_iter().map(Proposal::from).collect(), total })
    }

    /// Whether the tenant has a proposal or a held episode of this id.
    pub async fn has_proposal(&self, call: &Call, id: Uuid) -> Result<bool, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(proposals::exists(&mut conn, &call.tenant, id).await?)
    }

    /// Makes a proposed fact or rule active, or lets consolidation read an episode. Only for a person: an agent that was
    /// talked into something must not approve it itself. Returns `None` if nothing of this id waits or was decided.
    pub async fn approve(&self, call: &Call, id: Uuid) -> Result<Option<Decided>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let Some((subject, predicate, content)) = proposals::text(&mut conn, &call.tenant, id).await? else {
            let released = proposals::release(call.write(&mut conn), EpisodeId(id)).await?;
            return Ok(released.map(|changed| approved(id, id, changed)));
        };
        let text = match (subject, predicate) {
            (Some(subject), Some(predicate)) => fact_text(&subject, &predicate, &content),
            _ => content,
        };
        let embedding = self.embed(&text).await?;
        let mut attempt = 1;
        let outcome = loop {
            match proposals::approve(call.write(&mut conn), id, &embedding).await {
                Err(error) if attempt < ATTEMPTS && is_race(&error) => attempt += 1,
                outcome => break outcome?,
            }
        };
        match outcome {
            None => Ok(None),
            Some(Approved::Stored(memory)) => {
                self.training().record_writes(1);
                Ok(Some(approved(id, memory, true)))
            }
            Some(Approved::Decided(state)) if state == "approved" => Ok(Some(approved(id, id, false))),
            Some(Approved::Decided(state)) => Err(decided_otherwise(id, &state)),
            Some(Approved::Refused(reason)) => Err(MemoryError::InvalidState {
                message: format!("proposal {id} cannot be stored any more: {}", reason.replace('_', " ")),
                hint: "reject it, and store what is true with `butler remember`".to_owned(),
            }),
        }
    }

    /// Rejects a proposal: it is never proposed again. An episode is forgotten. Returns `None` if there is no such one.
    pub async fn reject(&self, call: &Call, id: Uuid) -> Result<Option<Decided>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let rejected = |changed| Decided { id, memory_id: None, state: "rejected".to_owned(), changed };
        match proposals::reject(call.write(&mut conn), id).await?.as_deref() {
            Some("open") => Ok(Some(rejected(true))),
            Some("rejected") => Ok(Some(rejected(false))),
            Some(state) => Err(decided_otherwise(id, state)),
            None if !proposals::exists(&mut conn, &call.tenant, id).await? => Ok(None),
            None => {
                let forgotten = butler_store::forget::episode(call.write(&mut conn), EpisodeId(id)).await?;
                Ok(forgotten.map(|outcome| rejected(outcome == ForgetOutcome::Forgotten)))
            }
        }
    }

    /// What was forgotten or erased and must not be learned again.
    pub async fn tombstones(
        &self,
        call: &Call,
        only_suppressed: bool,
        page: Page,
    ) -> Result<Listed<Tombstone>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(tombstones::list(&mut conn, &call.tenant, only_suppressed, page).await?)
    }

    /// Whether something of this id was forgotten or erased.
    pub async fn has_tombstone(&self, call: &Call, id: Uuid) -> Result<bool, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(tombstones::exists(&mut conn, &call.tenant, id).await?)
    }

    /// Lets what was forgotten or erased be learned again. Returns `None` if nothing of this id was.
    pub async fn allow_again(&self, call: &Call, id: Uuid) -> Result<Option<AllowedAgain>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        Ok(tombstones::lift(call.write(&mut conn), id).await?.map(|changed| AllowedAgain { id, changed }))
    }
}

fn approved(id: Uuid, memory: Uuid, changed: bool) -> Decided {
    Decided { id, memory_id: Some(memory), state: "approved".to_owned(), changed }
}

fn decided_otherwise(id: Uuid, state: &str) -> MemoryError {
    let hint = match state {
        "approved" => "forget the memory instead",
        _ => "store it with `butler remember` if it is true after all",
    };
    MemoryError::InvalidState { message: format!("proposal {id} was {state} before"), hint: hint.to_owned() }
}
