//! Facts: storing one, which supersedes the active fact with the same key.

use butler_domain::ids::new_id;
use butler_domain::{EntityId, EpisodeId, FactId, Permanence, Scope, TenantId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::error::unknown_outcome;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::{Session, StoreError, WriteContext};

/// A new fact is fully believed until it decays or a newer fact supersedes it.
pub const INITIAL_CONFIDENCE: f64 = 1.0;

#[derive(Debug, Clone)]
pub struct NewFact {
    pub id: FactId,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub scope: Scope,
    pub importance: f64,
    pub permanence: Permanence,
    pub entity_id: Option<EntityId>,
    pub source_episode_id: Option<EpisodeId>,
    /// Further episodes that it is derived from. Those that no longer exist are left out.
    pub derived_from: Vec<EpisodeId>,
    pub source_butler: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    /// The embedding of [`butler_domain::text::fact_text`].
    pub embedding: Embedded,
}

/// The result of storing a fact. All outcomes but `Stored` wrote nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactOutcome {
    Stored {
        superseded_id: Option<FactId>,
    },
    /// The tenant has no entity with that id.
    NoEntity,
    /// The entity was merged into another one.
    EntityMerged {
        into: Option<EntityId>,
    },
    /// The tenant has no episode with that id.
    NoEpisode,
}

/// The argument of `store_fact`.
#[derive(Serialize)]
struct FactRow<'a> {
    id: FactId,
    subject: &'a str,
    predicate: &'a str,
    content: &'a str,
    search_text: String,
    scope: &'a Scope,
    importance: f64,
    confidence: f64,
    decay_rate: f64,
    permanence: Permanence,
    entity_id: Option<EntityId>,
    source_episode_id: Option<EpisodeId>,
    derived_from: &'a [EpisodeId],
    source_butler: Option<&'a str>,
    tags: &'a [String],
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    created_event_id: Uuid,
    superseded_event_id: Uuid,
    event: Value,
}

/// Stores a fact and supersedes the active one with the same key, in one round trip. Concurrent writers of one key wait
/// for each other; none fails.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if a concurrent call used the key first: read its response with
/// [`crate::idempotency::find`].
pub async fn store(write: WriteContext<'_>, fact: &NewFact, keyed: Option<&Keyed>) -> Result<FactOutcome, StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let text = butler_domain::text::fact_text(&fact.subject, &fact.predicate, &fact.content);
    let argument = FactRow {
        id: fact.id,
        subject: &fact.subject,
        predicate: &fact.predicate,
        content: &fact.content,
        search_text: butler_domain::text::preprocess_text(&text),
        scope: &fact.scope,
        importance: fact.importance,
        confidence: INITIAL_CONFIDENCE,
        decay_rate: fact.permanence.decay_rate(),
        permanence: fact.permanence,
        entity_id: fact.entity_id,
        source_episode_id: fact.source_episode_id,
        derived_from: &fact.derived_from,
        source_butler: fact.source_butler.as_deref(),
        tags: &fact.tags,
        metadata: &fact.metadata,
        model: fact.embedding.model.row(),
        created_event_id: new_id(now),
        superseded_event_id: new_id(now),
        event: created_payload(fact),
    };
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"SELECT outcome AS "outcome!", superseded_id, merged_into FROM store_fact($1, $2, $3, $4, $5, $6, $7)"#,
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &fact.embedding.vector[..],
                keyed.map(|keyed| Json(keyed.row())) as _,
            )
            .fetch_one(pg)
        })
        .await?;
    match &row.outcome[..] {
        "stored" => Ok(FactOutcome::Stored { superseded_id: row.superseded_id.map(FactId) }),
        "no_entity" => Ok(FactOutcome::NoEntity),
        "entity_merged" => Ok(FactOutcome::EntityMerged { into: row.merged_into.map(EntityId) }),
        "no_episode" => Ok(FactOutcome::NoEpisode),
        other => Err(unknown_outcome("store_fact", other)),
    }
}

/// The statement that a fact makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement<'a> {
    pub subject: &'a str,
    pub predicate: &'a str,
    pub content: &'a str,
}

/// Whether the tenant has a fact with exactly this statement, whatever its validity.
pub async fn exists(
    session: &mut Session,
    tenant: &TenantId,
    scope: &Scope,
    statement: Statement<'_>,
) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM facts WHERE tenant_id = $1 AND subject = $2 AND predicate = $3 AND content = $4
                                                      AND scope = $5) AS "exists!""#,
                tenant.as_str(),
                statement.subject,
                statement.predicate,
                statement.content,
                scope.as_str()
            )
            .fetch_one(pg)
        })
        .await
}

fn created_payload(fact: &NewFact) -> Value {
    json!({ "after": {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "content": excerpt(&fact.content),
        "scope": fact.scope,
        "importance": fact.importance,
        "permanence": fact.permanence,
        "entity_id": fact.entity_id,
        "source_butler": fact.source_butler,
        "source_episode_id": fact.source_episode_id,
        "tags": fact.tags,
        "validity": "active",
    }})
}
