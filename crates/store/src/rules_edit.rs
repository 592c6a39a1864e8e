//! Editing a rule, and undoing the edit.

use butler_domain::event::EventType;
use butler_domain::ids::new_id;
use butler_domain::{Maturity, Permanence, Rule, RuleId, TenantId, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::{Session, StoreError, WriteContext};

/// The new state of a rule: after an edit, or after an edit was undone.
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

/// The argument of `edit_rule`.
#[derive(Serialize)]
struct EditRow<'a> {
    id: RuleId,
    content: &'a str,
    search_text: String,
    scope: &'a str,
    maturity: Maturity,
    permanence: Permanence,
    decay_rate: f64,
    effectiveness_score: f64,
    applied_count: i32,
    success_count: i32,
    harmful_count: i32,
    last_confirmed_at: Option<Timestamp>,
    tags: &'a [String],
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    event_id: Uuid,
    event_type: EventType,
    event: Value,
}

/// Overwrites a rule that `rules_feedback::lock` read in the same transaction. The event keeps the previous state, so
/// that the edit can be undone.
pub async fn apply(
    write: WriteContext<'_>,
    before: &Rule,
    after: &Edited,
    event_type: EventType,
) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let argument = EditRow {
        id: before.id,
        content: &after.content,
        search_text: butler_domain::text::preprocess_text(&after.content),
        scope: &after.scope,
        maturity: after.maturity,
        permanence: after.permanence,
        decay_rate: after.decay_rate,
        effectiveness_score: after.effectiveness_score,
        applied_count: after.applied_count,
        success_count: after.success_count,
        harmful_count: after.harmful_count,
        last_confirmed_at: after.last_confirmed_at,
        tags: &after.tags,
        metadata: &after.metadata,
        model: after.embedding.model.row(),
        event_id: new_id(now),
        event_type,
        event: json!({
            "before": fields(before),
            "after": {"content": after.content, "scope": after.scope, "maturity": after.maturity,
                      "permanence": after.permanence, "tags": after.tags},
        }),
    };
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM edit_rule($1, $2, $3, $4, $5, $6)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &after.embedding.vector[..],
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

/// The fields that an edit changes, as its event keeps them.
fn fields(rule: &Rule) -> Value {
    json!({
        "content": rule.content, "scope": rule.scope, "maturity": rule.maturity, "permanence": rule.permanence,
        "decay_rate": rule.decay_rate, "effectiveness_score": rule.effectiveness_score,
        "applied_count": rule.applied_count, "success_count": rule.success_count, "harmful_count": rule.harmful_count,
        "last_confirmed_at": rule.last_confirmed_at, "tags": rule.tags, "metadata": rule.metadata,
    })
}

/// The state of a rule before its last edit; `None` if the rule has changed since, other than by a confirmation or a
/// link.
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
