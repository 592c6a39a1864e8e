//! Rules: storing one, marking it by outcome, turning it into a warning.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{EpisodeId, Maturity, Permanence, RuleId, Scope, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use sqlx::types::Json;

use crate::embedded::Embedded;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::{Session, StoreError};

/// A new rule is a guess.
pub const INITIAL_CONFIDENCE: f64 = 0.5;
/// Of a rule stored without a permanence: it loses confidence a little faster than a standard fact.
pub const DEFAULT_DECAY_RATE: f64 = 0.01;

#[derive(Debug, Clone)]
pub struct NewRule {
    pub id: RuleId,
    pub content: String,
    pub scope: Scope,
    /// `None`: standard, at [`DEFAULT_DECAY_RATE`].
    pub permanence: Option<Permanence>,
    pub source_episode_id: Option<EpisodeId>,
    pub source_butler: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub embedding: Embedded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleOutcome {
    Stored,
    /// No episode of this tenant has that id; nothing was written.
    NoEpisode,
}

/// One statement: the rule, the link to its source, the event, the answer for an idempotent retry.
pub async fn store(
    session: &mut Session,
    tenant: &TenantId,
    rule: &NewRule,
    now: Timestamp,
    origin: &Origin,
    keyed: Option<&Keyed>,
) -> Result<RuleOutcome, StoreError> {
    let stored = session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"
                WITH rule AS (
                    INSERT INTO rules (tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate,
                                       permanence, source_episode_id, source_butler, created_at, last_confirmed_at, tags,
                                       metadata, embedding_version_id)
                    SELECT $1, $2, $3, $4::real[]::vector, memory_search_vector($5), $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15,
                           embedding_version($1, $16, $25, $26, $13)
                    WHERE $11::uuid IS NULL OR EXISTS (SELECT FROM episodes WHERE tenant_id = $1 AND id = $11)
                    RETURNING id
                ), link AS (
                    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                    SELECT $1, 'rule', rule.id, 'episode', $11, 'derived_from', $13 FROM rule WHERE $11::uuid IS NOT NULL
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $17, $18, $19, 'rule', rule.id, $20, $21, $13 FROM rule
                ), answer AS (
                    INSERT INTO idempotency_keys (tenant_id, key, tool, request, response, created_at)
                    SELECT $1, $22, $23, $24, jsonb_build_object('id', rule.id), $13 FROM rule WHERE $22::text IS NOT NULL
                )
                SELECT EXISTS (SELECT FROM rule) AS "stored!"
                "#,
                tenant.as_str(),
                rule.id.0,
                rule.content,
                &rule.embedding.vector[..],
                butler_domain::text::preprocess_text(&rule.content),
                rule.scope.as_str(),
                Maturity::Candidate.as_str(),
                INITIAL_CONFIDENCE,
                rule.permanence.map_or(DEFAULT_DECAY_RATE, Permanence::decay_rate),
                rule.permanence.unwrap_or(Permanence::Standard).as_str(),
                rule.source_episode_id.map(|id| id.0),
                rule.source_butler.as_deref(),
                now,
                Json(&rule.tags) as _,
                Json(&rule.metadata) as _,
                &rule.embedding.model.name[..],
                new_id(now),
                EventType::RuleCreated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                created_payload(rule),
                keyed.map(|keyed| keyed.key.as_str()),
                keyed.map(|keyed| keyed.tool),
                keyed.map(|keyed| &keyed.request[..]),
                &rule.embedding.model.version[..],
                rule.embedding.model.dimensions,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(if stored { RuleOutcome::Stored } else { RuleOutcome::NoEpisode })
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
