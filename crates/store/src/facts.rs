//! Facts: storing one, and superseding the one it replaces.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{EntityId, EpisodeId, FactId, Permanence, Scope, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::Embedded;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::{Session, StoreError};

/// A new fact is fully believed; only time and the next fact of its key take that away.
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
    pub source_butler: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
    /// Of [`butler_domain::text::fact_text`], by the model it names.
    pub embedding: Embedded,
}

/// What became of an attempt to store a fact. All but `Stored` wrote nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactOutcome {
    Stored {
        superseded_id: Option<FactId>,
    },
    /// No entity of this tenant has that id.
    NoEntity,
    /// The entity lives on in another one.
    EntityMerged {
        into: Option<EntityId>,
    },
    /// No episode of this tenant has that id.
    NoEpisode,
}

/// One statement, hence one round trip outside a transaction: checks, supersession, the fact, its links, both events and
/// the answer for an idempotent retry. Concurrent writers of one key wait for each other; none fails.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if the key was used meanwhile: read the answer with
/// [`crate::idempotency::find`].
pub async fn store(
    session: &mut Session,
    tenant: &TenantId,
    fact: &NewFact,
    now: Timestamp,
    origin: &Origin,
    keyed: Option<&Keyed>,
) -> Result<FactOutcome, StoreError> {
    let text = butler_domain::text::fact_text(&fact.subject, &fact.predicate, &fact.content);
    let row = session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH entity AS MATERIALIZED (
                    -- the lock waits for a merge of the entity, and then sees its outcome
                    SELECT CASE WHEN NOT entity_is_live(metadata) THEN entity_survivor($1, $14)::text END AS merged_into FROM entities
                    WHERE tenant_id = $1 AND id = $14 FOR KEY SHARE
                ), checked AS MATERIALIZED (
                    SELECT $14::uuid IS NULL OR EXISTS (SELECT FROM entity) AS entity_exists,
                           (SELECT merged_into FROM entity) AS merged_into,
                           $13::uuid IS NULL OR EXISTS (SELECT FROM episodes WHERE tenant_id = $1 AND id = $13) AS episode_exists
                ), allowed AS MATERIALIZED (
                    SELECT entity_exists AND merged_into IS NULL AND episode_exists AS yes FROM checked
                ), old AS MATERIALIZED (
                    SELECT old_id FROM allowed, LATERAL supersede_active_fact(allowed.yes, $1, $14, $15, $3, $4)
                ), fact AS (
                    INSERT INTO facts (tenant_id, id, subject, predicate, content, embedding, search_vector, importance,
                                       confidence, decay_rate, permanence, source_butler, source_episode_id, entity_id, scope,
                                       created_at, last_confirmed_at, tags, metadata, embedding_version_id, supersedes_id)
                    SELECT $1, $2, $3, $4, $5, $6::real[]::vector, memory_search_vector($7), $8, $9, $10, $11, $12, $13, $14, $15,
                           $16, $16, $17, $18, embedding_version($1, $19, $30, $31, $16), (SELECT old_id FROM old)
                    FROM allowed WHERE yes
                    RETURNING id
                ), link AS (
                    INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
                    SELECT $1, 'fact', fact.id, 'fact', old_id, 'supersedes', $16::timestamptz FROM fact, old
                    UNION ALL
                    SELECT $1, 'fact', fact.id, 'episode', $13, 'derived_from', $16 FROM fact WHERE $13::uuid IS NOT NULL
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $20::uuid, $28, $22, 'fact', fact.id, $23,
                           $24::jsonb || jsonb_build_object('supersedes_id', (SELECT old_id FROM old)), $16::timestamptz
                    FROM fact
                    UNION ALL
                    SELECT $1, $21, $29, $22, 'fact', old_id, $23,
                           jsonb_build_object('before', jsonb_build_object('validity', 'active'),
                                              'after', jsonb_build_object('validity', 'superseded'),
                                              'superseded_by', fact.id), $16
                    FROM fact, old
                ), answer AS (
                    INSERT INTO idempotency_keys (tenant_id, key, tool, request, response, created_at)
                    SELECT $1, $25, $26, $27, jsonb_build_object('id', fact.id, 'superseded_id', (SELECT old_id FROM old)), $16
                    FROM fact WHERE $25::text IS NOT NULL
                )
                SELECT entity_exists AS "entity_exists!", merged_into, episode_exists AS "episode_exists!",
                       (SELECT old_id FROM old) AS superseded_id
                FROM checked
                "#,
                tenant.as_str(),
                fact.id.0,
                fact.subject,
                fact.predicate,
                fact.content,
                &fact.embedding.vector[..],
                butler_domain::text::preprocess_text(&text),
                fact.importance,
                INITIAL_CONFIDENCE,
                fact.permanence.decay_rate(),
                fact.permanence.as_str(),
                fact.source_butler.as_deref(),
                fact.source_episode_id.map(|id| id.0),
                fact.entity_id.map(|id| id.0),
                fact.scope.as_str(),
                now,
                Json(&fact.tags) as _,
                Json(&fact.metadata) as _,
                &fact.embedding.model.name[..],
                new_id(now),
                new_id(now),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                created_payload(fact),
                keyed.map(|keyed| keyed.key.as_str()),
                keyed.map(|keyed| keyed.tool),
                keyed.map(|keyed| &keyed.request[..]),
                EventType::FactCreated.as_str(),
                EventType::FactSuperseded.as_str(),
                &fact.embedding.model.version[..],
                fact.embedding.model.dimensions,
            )
            .fetch_one(pg)
        })
        .await?;
    Ok(if !row.entity_exists {
        FactOutcome::NoEntity
    } else if let Some(into) = row.merged_into {
        FactOutcome::EntityMerged { into: into.parse::<Uuid>().ok().map(EntityId) }
    } else if !row.episode_exists {
        FactOutcome::NoEpisode
    } else {
        FactOutcome::Stored { superseded_id: row.superseded_id.map(FactId) }
    })
}

/// What a fact says, word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words<'a> {
    pub subject: &'a str,
    pub predicate: &'a str,
    pub content: &'a str,
}

/// Whether a fact in these words is here, be it superseded, expired or retracted since.
pub async fn was_told(
    session: &mut Session,
    tenant: &TenantId,
    scope: &Scope,
    words: Words<'_>,
) -> Result<bool, StoreError> {
    session
        .run(|pg| {
            sqlx::query_scalar!(
                r#"SELECT EXISTS (SELECT FROM facts WHERE tenant_id = $1 AND subject = $2 AND predicate = $3 AND content = $4
                                                      AND scope = $5) AS "told!""#,
                tenant.as_str(),
                words.subject,
                words.predicate,
                words.content,
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
