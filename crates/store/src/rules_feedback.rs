//! Marks on a rule, and the inversion of one that failed too often.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::maturity::{MarkOutcome, MaturityChange};
use butler_domain::{Rule, RuleId, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use sqlx::types::Json;

use crate::embedded::Embedded;
use crate::events::ordered_ids;
use crate::rows::RuleRow;
use crate::{Session, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Helpful,
    Harmful,
}

impl Mark {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
        }
    }
}

/// A mark and what `butler_domain::maturity` made of it.
#[derive(Debug, Clone)]
pub struct Marked<'a> {
    pub mark: Mark,
    pub reason: Option<&'a str>,
    pub outcome: &'a MarkOutcome,
    /// The rule's metadata as the mark leaves it.
    pub metadata: Map<String, Value>,
}

/// Reads a rule for a change that depends on it; nobody else changes it before the transaction ends.
pub async fn lock(session: &mut Session, tenant: &TenantId, id: RuleId) -> Result<Option<Rule>, StoreError> {
    let row = session
        .run(|pg| {
            sqlx::query_as!(
                RuleRow,
                "SELECT id, tenant_id, content, scope, maturity, confidence, decay_rate, permanence, effectiveness_score,
                        applied_count, success_count, harmful_count, source_episode_id, source_butler, created_at,
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

/// Writes what a mark made of a rule that [`lock`] read in the same transaction: the row, the application and the events.
/// Returns the rule as it is now.
pub async fn apply_mark(
    session: &mut Session,
    tenant: &TenantId,
    before: Rule,
    marked: Marked<'_>,
    now: Timestamp,
    origin: &Origin,
) -> Result<Rule, StoreError> {
    let Marked { mark, reason, outcome, metadata } = marked;
    let events = mark_events(&before, mark, outcome, reason);
    let ids = ordered_ids(events.len(), now);
    let (types, payloads): (Vec<String>, Vec<Value>) =
        events.into_iter().map(|(event, payload)| (event.as_str().to_owned(), payload)).unzip();
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH rule AS (
                    UPDATE rules SET applied_count = $3, success_count = $4, harmful_count = $5, effectiveness_score = $6,
                                     maturity = $7, last_applied_at = $8, last_evaluated_at = $8, metadata = $9
                    WHERE tenant_id = $1 AND id = $2
                    RETURNING id
                ), application AS (
                    INSERT INTO rule_applications (tenant_id, id, rule_id, outcome, reason, effectiveness_score, maturity,
                                                   actor, request_id, applied_at)
                    SELECT $1, $10, rule.id, $11, $12, $6, $7, $13, $14, $8 FROM rule
                )
                INSERT INTO memory_events (tenant_id, actor, memory_type, memory_id, request_id, created_at, id, event_type, payload)
                SELECT $1, $13, 'rule', rule.id, $14, $8, e.*
                FROM rule, unnest($15::uuid[], $16::text[], $17::jsonb[]) e
                "#,
                tenant.as_str(),
                before.id.0,
                outcome.counts.applied,
                outcome.counts.success,
                outcome.counts.harmful,
                outcome.effectiveness,
                outcome.maturity.as_str(),
                now,
                Json(&metadata) as _,
                new_id(now),
                mark.as_str(),
                reason,
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                &ids,
                &types,
                &payloads,
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
        "before": counts(before.applied_count, before.success_count, before.harmful_count, before.effectiveness_score),
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

fn counts(applied: i32, success: i32, harmful: i32, effectiveness: f64) -> Value {
    json!({
        "applied_count": applied,
        "success_count": success,
        "harmful_count": harmful,
        "effectiveness_score": effectiveness,
    })
}

/// A rule that waits to become a warning.
#[derive(Debug, Clone)]
pub struct Pending {
    pub tenant: TenantId,
    pub id: RuleId,
    pub content: String,
    pub metadata: Map<String, Value>,
}

/// Rules flagged for inversion, at most `limit`, of one tenant or (on an owner's session) of all. `after` is the last one seen.
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

/// Rewrites the rule, its vectors and its maturity, unless it changed since it was read; `false` then: read it again.
pub async fn invert(
    session: &mut Session,
    pending: &Pending,
    content: &str,
    metadata: &Map<String, Value>,
    embedding: &Embedded,
    now: Timestamp,
    origin: &Origin,
) -> Result<bool, StoreError> {
    let inverted = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH rule AS (
                    UPDATE rules SET content = $3, metadata = $4, embedding = $5::real[]::vector, embedding_version_id = embedding_version($1, $6, $15, $16, $8),
                                     search_vector = memory_search_vector($7), maturity = 'anti_pattern', last_evaluated_at = $8
                    WHERE tenant_id = $1 AND id = $2 AND content = $9 AND metadata = $10 AND maturity <> 'anti_pattern'
                    RETURNING id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $11, $12, $13, 'rule', rule.id, $14,
                           jsonb_build_object('before', jsonb_build_object('content', $9::text),
                                              'after', jsonb_build_object('content', $3::text, 'maturity', 'anti_pattern')), $8
                    FROM rule
                )
                SELECT EXISTS (SELECT FROM rule) AS "inverted!"
                "#,
                pending.tenant.as_str(),
                pending.id.0,
                content,
                Json(metadata) as _,
                &embedding.vector[..],
                &embedding.model.name[..],
                butler_domain::text::preprocess_text(content),
                now,
                pending.content,
                Json(&pending.metadata) as _,
                new_id(now),
                EventType::RuleInverted.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                &embedding.model.version[..],
                embedding.model.dimensions,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(inverted)
}
