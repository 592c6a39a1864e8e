//! Episodes: storing one.

use butler_domain::event::{EventType, Origin};
use butler_domain::ids::new_id;
use butler_domain::{Butler, EpisodeId, TenantId, Timestamp};
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::Embedded;
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::{Session, StoreError};

#[derive(Debug, Clone)]
pub struct NewEpisode {
    pub id: EpisodeId,
    pub butler: Butler,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    pub expires_at: Timestamp,
    pub metadata: Map<String, Value>,
    pub embedding: Embedded,
}

/// One statement: the episode, its event, the answer for an idempotent retry.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if the key was used meanwhile: read the answer with
/// [`crate::idempotency::find`].
pub async fn store(
    session: &mut Session,
    tenant: &TenantId,
    episode: &NewEpisode,
    now: Timestamp,
    origin: &Origin,
    keyed: Option<&Keyed>,
) -> Result<(), StoreError> {
    session
        .run(|pg| {
            sqlx::query!(
                r#"
                WITH episode AS (
                    INSERT INTO episodes (tenant_id, id, butler, session_id, content, embedding, search_vector, importance,
                                          created_at, expires_at, metadata, embedding_version_id)
                    VALUES ($1, $2, $3, $4, $5, $6::real[]::vector, memory_search_vector($7), $8, $9, $10, $11,
                            embedding_version($1, $12, $13, $14, $9))
                    RETURNING id
                ), event AS (
                    INSERT INTO memory_events (tenant_id, id, event_type, actor, memory_type, memory_id, request_id, payload, created_at)
                    SELECT $1, $15, $16, $17, 'episode', episode.id, $18, $19, $9 FROM episode
                )
                INSERT INTO idempotency_keys (tenant_id, key, tool, request, response, created_at)
                SELECT $1, $20, $21, $22, $23, $9 FROM episode WHERE $20::text IS NOT NULL
                "#,
                tenant.as_str(),
                episode.id.0,
                episode.butler.as_str(),
                episode.session_id,
                episode.content,
                &episode.embedding.vector[..],
                butler_domain::text::preprocess_text(&episode.content),
                episode.importance,
                now,
                episode.expires_at,
                Json(&episode.metadata) as _,
                &episode.embedding.model.name[..],
                &episode.embedding.model.version[..],
                episode.embedding.model.dimensions,
                new_id(now),
                EventType::EpisodeCreated.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                created_payload(episode),
                keyed.map(|keyed| keyed.key.as_str()),
                keyed.map(|keyed| keyed.tool),
                keyed.map(|keyed| &keyed.request[..]),
                json!({ "id": episode.id, "expires_at": episode.expires_at }),
            )
            .execute(pg)
        })
        .await?;
    Ok(())
}

fn created_payload(episode: &NewEpisode) -> Value {
    json!({ "after": {
        "content": excerpt(&episode.content),
        "butler": episode.butler,
        "session_id": episode.session_id,
        "importance": episode.importance,
        "expires_at": episode.expires_at,
    }})
}
