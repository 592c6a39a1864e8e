//! Episodes: storing one.

use butler_domain::ids::new_id;
use butler_domain::{Butler, EpisodeId, Source, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::embedded::{Embedded, ModelRow};
use crate::events::excerpt;
use crate::idempotency::Keyed;
use crate::{StoreError, WriteContext};

/// An episode to store.
#[derive(Debug, Clone)]
pub struct NewEpisode {
    pub id: EpisodeId,
    pub butler: Butler,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    /// `None`: now.
    pub occurred_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    pub source: Source,
    /// Why consolidation leaves it out until somebody releases it.
    pub held_for: Option<Value>,
    pub metadata: Map<String, Value>,
    pub embedding: Embedded,
}

/// The argument of `store_episode`.
#[derive(Serialize)]
struct EpisodeRow<'a> {
    id: EpisodeId,
    butler: &'a Butler,
    session_id: Option<Uuid>,
    content: &'a str,
    search_text: String,
    importance: f64,
    expires_at: Timestamp,
    occurred_at: Option<Timestamp>,
    source: Source,
    held_for: Option<&'a Value>,
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    model: ModelRow<'a>,
    event_id: Uuid,
    event: Value,
}

/// Stores an episode in one round trip.
///
/// Fails with [`crate::Constraint::IdempotencyKey`] if a concurrent call used the key first: read its response with
/// [`crate::idempotency::find`].
pub async fn store(write: WriteContext<'_>, episode: &NewEpisode, keyed: Option<&Keyed>) -> Result<(), StoreError> {
    let WriteContext { session, tenant, now, origin } = write;
    let argument = EpisodeRow {
        id: episode.id,
        butler: &episode.butler,
        session_id: episode.session_id,
        content: &episode.content,
        search_text: butler_domain::text::preprocess_text(&episode.content),
        importance: episode.importance,
        expires_at: episode.expires_at,
        occurred_at: episode.occurred_at,
        source: episode.source,
        held_for: episode.held_for.as_ref(),
        metadata: &episode.metadata,
        model: episode.embedding.model.row(),
        event_id: new_id(now),
        event: created_payload(episode),
    };
    session
        .run(|pg| {
            sqlx::query!(
                "SELECT FROM store_episode($1, $2, $3, $4, $5, $6, $7)",
                tenant.as_str(),
                origin.actor.as_deref(),
                origin.request_id.as_deref(),
                now,
                Json(&argument) as _,
                &episode.embedding.vector[..],
                keyed.map(|keyed| Json(keyed.row())) as _,
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
        "source": episode.source,
    }})
}
