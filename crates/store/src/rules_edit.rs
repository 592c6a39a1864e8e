//! A person's own words for a rule, and the way back.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{Maturity, Permanence, Rule, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::Embedded;
use crate::{Session, StoreError};

/// A rule as it is to be after an edit, or after an edit was taken back.
#[derive(Debug, Clone)]
pub struct Edited {
    pub content: String,
    pub scope: String,
    pub maturity: Maturity,
    pub permanence: Permanence,
    pub decay_rate: f64,
    pub effectiveness_score: f64,
    pub applied_count: i32,
    pub success_count: i32,
    pub harmful_count: i32,
    pub last_confirmed_at: Option<Timestamp>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    pub embedding: Embedded,
}

/// Writes it over a rule that `rules_feedback::lock` read in the same transaction, with its event. The event holds all that
/// was there before, so that the edit can be taken back.
pub async fn apply(
    session: &mut Session,
    tenant: &TenantId,
    before: &Rule,
    after: &Edited,
    event: EventType,
    now: Timestamp,
    origin: &Origin,
) -> Result<(), StoreError> {
    let payload = json!({
        "before": fields(before),
        "after": {"content": after.content, "scope": after.scope, "maturity": after.maturity,
                  "permanence": after.permanence, "tags": after.tags},
    });
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH rule AS (
                    UPDATE rules SET content = $3, scope = $4, maturity = $5, permanence = $6, decay_rate = $7,
                           effectiveness_score = $8, applied_count = $9, success_count = $10, harmful_count = $11,
                           last_confirmed_at = $12, last_evaluated_at = $13, tags = $14, metadata = $15,
                           embedding = $16::real[]::vector, embedding_version_id = embedding_version($1, $17, $18, $19, $13),
                           search_vector = memory_search_vector($20)
                    WHERE tenant_id = $1 AND id = $2 RETURNING id
                )
                INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                SELECT $1, $21, $22, $23, 'rule', rule.id, $24, $25, $13 FROM rule
                "#,
                tenant.as_str(),
                before.id.0,
                after.content,
                after.scope,
                after.maturity.as_str(),
                after.permanence.as_str(),
                after.decay_rate,
                after.effectiveness_score,
                after.applied_count,
                after.success_count,
                after.harmful_count,
                after.last_confirmed_at,
                now,
                Json(&after.tags) as _,
                Json(&after.metadata) as _,
                &after.embedding.vector[..],
                &after.embedding.model.name[..],
                &after.embedding.model.version[..],
                after.embedding.model.dimensions,
                butler_domain::text::preprocess_text(&after.content),
                new_id(now),
                event.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                payload,
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// What an edit changes, as its event keeps it.
fn fields(rule: &Rule) -> Value {
    json!({
        "content": rule.content, "scope": rule.scope, "maturity": rule.maturity, "permanence": rule.permanence,
        "decay_rate": rule.decay_rate, "effectiveness_score": rule.effectiveness_score,
        "applied_count": rule.applied_count, "success_count": rule.success_count, "harmful_count": rule.harmful_count,
        "last_confirmed_at": rule.last_confirmed_at, "tags": rule.tags, "metadata": rule.metadata,
    })
}

/// What the rule was before its last edit, if nothing but reading and confirming happened to it since.
pub async fn before_last_edit(session: &mut Session, tenant: &TenantId, id: Uuid) -> Result<Option<Value>, StoreError> {
    let last = session
        .run(|pg| {
            sqlx::query!(
                "SELECT event_type, payload FROM memory_events
                 WHERE tenant_id = $1 AND memory_id = $2 AND event_type <> 'rule_confirmed' AND event_type <> 'link_created'
                 ORDER BY created_at DESC, id DESC LIMIT 1",
                tenant.as_str(),
                id
            )
            .fetch_optional(pg)
        })
        .await?;
    let edited = last.filter(|event| event.event_type == EventType::RuleEdited.as_str());
    Ok(edited.and_then(|event| event.payload.get("before").cloned()).filter(|before| before.get("content").is_some()))
}
