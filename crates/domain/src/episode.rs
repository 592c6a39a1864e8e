use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::ids::EpisodeId;
use crate::kinds::ConsolidationStatus;

/// What happened in one session: high in volume, short-lived. Its embedding never leaves the database.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Episode {
    pub id: EpisodeId,
    pub tenant_id: String,
    pub butler: String,
    pub session_id: Option<Uuid>,
    pub content: String,
    pub importance: f64,
    pub reference_count: i32,
    pub consolidated: bool,
    pub consolidation_status: ConsolidationStatus,
    pub retry_count: i32,
    pub last_error: Option<String>,
    /// `retry_count` under the name of the normative document.
    pub consolidation_attempts: i32,
    /// `last_error` under the name of the normative document.
    pub last_consolidation_error: Option<String>,
    pub next_consolidation_retry_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
}
