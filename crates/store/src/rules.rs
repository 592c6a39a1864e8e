//! Rules: storing one.

use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, Maturity, MemoryType, Permanence, RuleId, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::error::unknown_outcome;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::tombstones;
use crate::trust::{self, Attempt, ForgottenStatement, Trust, read_answer};
use crate::{StoreError, WriteContext};

/// A new rule is a guess, so it starts at half the confidence.
pub const INITIAL_CONFIDENCE: f64 = 0.5;
/// A rule stored without a permanence decays a little faster than a standard fact.
pub const DEFAULT_DECAY_RATE: f64 = 0.01;

/// A rule to store, with its embedding.
#[derive(Debug, Clone)]
pub struct NewRule {
    pub id: RuleId,
    pub content: String,
    pub scope: Scope,
    /// `None`: standard, at [`DEFAULT_DECAY_RATE`].
    pub permanence: Option<Permanence>,
    pub source_episode_id: Option<EpisodeId>,
    /// Further episodes that it is derived from. Those that no longer exist are left out.
    pub derived_from: Vec<EpisodeId>,
    pub source_butler: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub embedding: Embedded,
    pub trust: Trust,
}

/// The result of storing a rule. All outcomes but `Stored` and `Proposed` wrote nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleOutcome {
    Stored,
    /// It waits for approval under this id.
    Proposed(RuleId),
    /// The rule of this id says the same. The source needs approval, so it does not confirm the rule.
    Known(RuleId),
    /// It repeats a forgotten rule.
    Forgotten(ForgottenStatement),
    /// A person rejected the same proposal.
    ProposalRejected,
    /// The tenant has no episode with that id; nothing was written.
    NoEpisode,
}

/// The argument of `store_rule`.
#[derive(Serialize)]
struct RuleRow<'a> {
    id: RuleId,
    content: &'a str,
    search_text: String,
    scope: &'a Scope,
    maturity: Maturity,
    confidence: f64,
    decay_rate: f64,
    permanence: Permanence,
    source_episode_id: Option<EpisodeId>,
    derived_from: &'a [EpisodeId],
    source_butler: Option<&'a str>,
    tags: &'a [String],
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    #[serde(flatten)]
    trust: &'a Trust,
    event_id: Uuid,
    event: Value,
}

/// Stores a rule and links it to its source episode, in one round trip.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if a concurrent call used the key first: read its response with
/// [`crate::idempotency::find`].
///
/// If [`Trust`] says so, a rule that was forgotten before is not stored but counted as suppressed.
pub async fn store(
    mut write: WriteContext<'_>,
    rule: &NewRule,
    keyed: Option<&Keyed>,
) -> Result<RuleOutcome, StoreError> {
    match attempt(write.again(), rule, &rule.trust, keyed).await? {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Near(candidates) => match trust::forgotten(candidates, "", &rule.content) {
            Some(statement) => {
                tombstones::suppressed(write.again(), MemoryType::Rule, statement.id).await?;
                Ok(RuleOutcome::Forgotten(statement))
            }
            None => match attempt(write.again(), rule, &rule.trust.checked(), keyed).await? {
                Attempt::Done(outcome) => Ok(outcome),
                Attempt::Near(_) => Err(unknown_outcome("store_rule", "forgotten")),
            },
        },
    }
}

/// One call of `store_rule`.
async fn attempt(
    write: WriteContext<'_>,
    rule: &NewRule,
    trust: &Trust,
    keyed: Option<&Keyed>,
) -> Result<Attempt<RuleOutcome>, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let argument = RuleRow {
        id: rule.id,
        content: &rule.content,
        search_text: butler_domain::text::preprocess_text(&rule.content),
        scope: &rule.scope,
        maturity: Maturity::Candidate,
        confidence: INITIAL_CONFIDENCE,
        decay_rate: rule.permanence.map_or(DEFAULT_DECAY_RATE, Permanence::decay_rate),
        permanence: rule.permanence.unwrap_or(Permanence::Standard),
        source_episode_id: rule.source_episode_id,
        derived_from: &rule.derived_from,
        source_butler: rule.source_butler.as_deref(),
        tags: &rule.tags,
        metadata: &rule.metadata,
        model: rule.embedding.model.row(),
        trust,
        event_id: new_id(now),
        event: created_payload(rule),
    };
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", answer FROM store_rule($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &rule.embedding.vector[..],
                keyed.map(|keyed| Json(keyed.row())) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(Attempt::Done(match (&row.outcome[..], row.answer) {
        ("stored", _) => RuleOutcome::Stored,
        ("proposed", Some(answer)) => RuleOutcome::Proposed(RuleId(read_answer::<Proposed>(answer)?.id)),
        ("known", Some(answer)) => RuleOutcome::Known(RuleId(read_answer::<Proposed>(answer)?.id)),
        ("no_episode", _) => RuleOutcome::NoEpisode,
        ("forgotten", Some(answer)) => return Ok(Attempt::Near(read_answer(answer)?)),
        ("rejected", _) => RuleOutcome::ProposalRejected,
        (other, _) => return Err(unknown_outcome("store_rule", other)),
    }))
}

#[derive(Deserialize)]
struct Proposed {
    id: Uuid,
}

fn created_payload(rule: &NewRule) -> Value {
    json!({ "after": {
        "content": excerpt(&rule.content),
        "scope": rule.scope,
        "maturity": Maturity::Candidate,
        "permanence": rule.permanence.unwrap_or(Permanence::Standard),
        "source_butler": rule.source_butler,
        "source_episode_id": rule.source_episode_id,
        "tags": rule.tags,
    }})
}
