//! Storing what happened.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{Butler, EpisodeId, Timestamp};
use serde_json::{Map, Value};
use store::episodes::{self, NewEpisode};
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// An episode whose fields were validated.
#[derive(Debug, Clone)]
pub struct EpisodeInput {
    pub butler: Butler,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    pub metadata: Map<String, Value>,
}

impl Memory {
    /// Two steps that take time: embedding, and one statement.
    pub async fn store_episode(&self, call: &Call, input: EpisodeInput) -> Result<(EpisodeId, Timestamp), MemoryError> {
        let embedding = self.embed(&input.content).await?;
        let episode = NewEpisode {
            id: EpisodeId::new(call.now),
            butler: input.butler,
            session_id: input.session_id,
            content: input.content,
            importance: input.importance,
            expires_at: after_days(call.now, self.config().episodes.default_ttl_days),
            metadata: input.metadata,
            embedding,
        };
        let mut conn = self.db().tenant(&call.tenant).await?;
        episodes::store(&mut conn, &call.tenant, &episode, call.now, &call.origin, None).await?;
        Ok((episode.id, episode.expires_at))
    }
}

/// Beyond the calendar's end is its end.
fn after_days(from: Timestamp, days: f64) -> Timestamp {
    Duration::try_from_secs_f64(days * 86_400.0)
        .ok()
        .and_then(|span| TimeDelta::from_std(span).ok())
        .and_then(|span| from.checked_add_signed(span))
        .unwrap_or(Timestamp::MAX_UTC)
}
