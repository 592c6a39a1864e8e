//! Feedback on a rule, and the inversion of a rule that failed too often.

use butler_domain::event::EventType;
use butler_domain::ids::new_id;
use butler_domain::maturity::{MarkOutcome, MaturityChange};
use butler_domain::{Maturity, Rule, RuleId, TenantId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::events::ordered_ids;
use crate::rows::RuleRow;
use crate::{Session, StoreError, WriteContext};

/// The outcome of applying a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Helpful,
    Harmful,
}

impl Mark {
    /// The name in the column `outcome` and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
        }
    }
}

/// A mark and its effect, which `butler_domain::maturity` decided.
#[derive(Debug, Clone)]
pub struct Marked<'a> {
    pub mark: Mark,
    pub reason: Option<&'a str>,
    /// The situation in which the rule was applied.
    pub context: &'a Map<String, Value>,
    pub outcome: &'a MarkOutcome,
    /// The rule's metadata after the mark.
    pub metadata: Map<String, Value>,
}

/// Reads a rule and locks it until the transaction ends, for a change that depends on the rule's state.
pub async fn lock(session: &mut Session, tenant: &TenantId, id: RuleId) -> Result<Option<Rule>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                RuleRow,
                "SELECT id, tenant_id, content, scope, maturity, confidence, decay_rate, permanence, effectiveness_score,
                        applied_count, success_count, harmful_count, source, source_episode_id, source_butler, created_at,
                        last_applied_at, last_evaluated_at, last_confirmed_at, reference_count, last_referenced_at,
                        tags, metadata
                 FROM rules WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE",
                tenant.as_str(),
                id.0
            )
            .fetch_optional(pg)
        })
        .await?;
    row.map(Rule::try_from).transpose()
}

/// The argument of `mark_rule`.
#[derive(Serialize)]
struct MarkRow<'a> {
    rule_id: RuleId,
    application_id: Uuid,
    outcome: &'static str,
    reason: Option<&'a str>,
    context: &'a Map<String, Value>,
    applied_count: i32,
    success_count: i32,
    harmful_count: i32,
    effectiveness_score: f64,
    maturity: Maturity,
    metadata: &'a Map<String, Value>,
    events: Vec<MarkEvent>,
}

#[derive(Serialize)]
struct MarkEvent {
    id: Uuid,
    event_type: EventType,
    payload: Value,
}

/// Writes the effect of a mark to a rule that [`lock`] read in the same transaction. Returns the rule as it is now.
pub async fn apply_mark(write: WriteContext<'_>, before: Rule, marked: Marked<'_>) -> Result<Rule, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let Marked { mark, reason, context, outcome, metadata } = marked;
    let events = mark_events(&before, mark, outcome, reason);
    let ids = ordered_ids(events.len(), now);
    let argument = MarkRow {
        rule_id: before.id,
        application_id: new_id(now),
        outcome: mark.as_str(),
        reason,
        context,
        applied_count: outcome.counts.applied,
        success_count: outcome.counts.success,
        harmful_count: outcome.counts.harmful,
        effectiveness_score: outcome.effectiveness,
        maturity: outcome.maturity,
        metadata: &metadata,
        events: ids
            .into_iter()
            .zip(events)
            .map(|(id, (event_type, payload))| MarkEvent { id, event_type, payload })
            .collect(),
    };
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM mark_rule($1, $2, $3, $4, $5)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
            )
            .execute(pg)
        })
        .await?;
    Ok(Rule {
        applied_count: outcome.counts.applied,
        success_count: outcome.counts.success,
        harmful_count: outcome.counts.harmful,
        effectiveness_score: outcome.effectiveness,
        maturity: outcome.maturity,
        last_applied_at: Some(now),
        last_evaluated_at: Some(now),
        last_confirmed_at: if mark == Mark::Helpful { Some(now) } else { before.last_confirmed_at },
        metadata,
        ..before
    })
}

fn mark_events(before: &Rule, mark: Mark, outcome: &MarkOutcome, reason: Option<&str>) -> Vec<(EventType, Value)> {
    let event = match mark {
        Mark::Helpful => EventType::RuleMarkedHelpful,
        Mark::Harmful => EventType::RuleMarkedHarmful,
    };
    let mut marked = json!({
        "before": state(before),
        "after": counts(outcome.counts.applied, outcome.counts.success, outcome.counts.harmful, outcome.effectiveness),
        "needs_inversion": outcome.needs_inversion,
    });
    if let Some(reason) = reason {
        marked["reason"] = reason.into();
    }
    let mut events = vec![(event, marked)];
    if let Some(step) = outcome.change {
        let (event, from, to) = match step {
            MaturityChange::Promoted { from, to } => (EventType::RulePromoted, from, to),
            MaturityChange::Demoted { from, to } => (EventType::RuleDemoted, from, to),
        };
        events.push((event, json!({ "before": { "maturity": from }, "after": { "maturity": to } })));
    }
    events
}

/// The fields that a mark changes, so that `undo_feedback` can restore them.
fn state(rule: &Rule) -> Value {
    json!({
        "applied_count": rule.applied_count,
        "success_count": rule.success_count,
        "harmful_count": rule.harmful_count,
        "effectiveness_score": rule.effectiveness_score,
        "maturity": rule.maturity,
        "last_applied_at": rule.last_applied_at,
        "last_confirmed_at": rule.last_confirmed_at,
        "metadata": rule.metadata,
    })
}

fn counts(applied: i32, success: i32, harmful: i32, effectiveness: f64) -> Value {
    json!({
        "applied_count": applied,
        "success_count": success,
        "harmful_count": harmful,
        "effectiveness_score": effectiveness,
    })
}

/// A rule that is flagged for inversion.
#[derive(Debug, Clone)]
pub struct Pending {
    pub tenant: TenantId,
    pub id: RuleId,
    pub content: String,
    pub metadata: Map<String, Value>,
}

/// The next rules flagged for inversion, at most `limit`: of one tenant or, on the owner's session, of all. `after` is
/// the last rule of the previous batch.
pub async fn pending_inversion(
    session: &mut Session,
    tenant: Option<&TenantId>,
    after: Option<&Pending>,
    limit: i64,
) -> Result<Vec<Pending>, StoreError> {
    let rows = session
        .run(|pg| {
            sqlx::query!(
                r#"
                SELECT tenant_id, id, content, metadata AS "metadata: Json<Map<String, Value>>"
                FROM rules
                WHERE metadata -> 'needs_inversion' = 'true' AND maturity <> 'anti_pattern'
                  AND rule_is_remembered(metadata)
                  AND ($1::text IS NULL OR tenant_id = $1)
                  AND ($2::text IS NULL OR (tenant_id, id) > ($2, $3))
                ORDER BY tenant_id, id LIMIT $4
                "#,
                tenant.map(TenantId::as_str),
                after.map(|pending| pending.tenant.as_str()),
                after.map(|pending| pending.id.0),
                limit,
            )
            .fetch_all(pg)
        })
        .await?;
    rows.into_iter()
        .map(|row| {
            let tenant = TenantId::new(row.tenant_id).map_err(|error| StoreError::BadData {
                table: "rules",
                column: "tenant_id",
                id: row.id.to_string(),
                reason: error.to_string(),
            })?;
            Ok(Pending { tenant, id: RuleId(row.id), content: row.content, metadata: row.metadata.0 })
        })
        .collect()
}

/// The warning that a rule is turned into.
#[derive(Debug, Clone, Copy)]
pub struct Inversion<'a> {
    pub content: &'a str,
    pub metadata: &'a Map<String, Value>,
    pub embedding: &'a Embedded,
}

/// The argument of `invert_rule`.
#[derive(Serialize)]
struct InvertRow<'a> {
    id: RuleId,
    old_content: &'a str,
    old_metadata: &'a Map<String, Value>,
    content: &'a str,
    search_text: String,
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    event_id: Uuid,
}

/// Turns the rule into a warning. Returns `false`, and writes nothing, if the rule changed since it was read.
pub async fn invert(write: WriteContext<'_>, pending: &Pending, inversion: Inversion<'_>) -> Result<bool, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let argument = InvertRow {
        id: pending.id,
        old_content: &pending.content,
        old_metadata: &pending.metadata,
        content: inversion.content,
        search_text: butler_domain::text::preprocess_text(inversion.content),
        metadata: inversion.metadata,
        model: inversion.embedding.model.row(),
        event_id: new_id(now),
    };
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT invert_rule($1, $2, $3, $4, $5, $6) AS "inverted!""#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &inversion.embedding.vector[..],
            )
            .fetch_one(pg)
        })
        .await
}
