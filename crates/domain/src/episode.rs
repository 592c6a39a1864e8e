use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::ids::EpisodeId;
use crate::kinds::{ConsolidationStatus, Source};

/// A raw observation from one session. Episodes are numerous and short-lived; consolidation turns them into facts and
/// rules. The embedding never leaves the database.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Episode {
    pub id: EpisodeId,
    pub tenant_id: String,
    pub butler: String,
    pub session_id: Option<Uuid>,
    pub content: String,
    /// How much it matters, 0 to 10.
    pub importance: f64,
    /// How often it was used by a context block or a read.
    pub reference_count: i32,
    pub consolidated: bool,
    pub consolidation_status: ConsolidationStatus,
    /// The number of failed consolidation attempts.
    pub retry_count: i32,
    pub last_error: Option<String>,
    /// Equals `retry_count`, under the specification's name.
    pub consolidation_attempts: i32,
    /// Equals `last_error`, under the specification's name.
    pub last_consolidation_error: Option<String>,
    pub next_consolidation_retry_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// When it happened; an import or a transcript is stored later.
    pub occurred_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// Where it comes from. What is learned from it inherits it.
    pub source: Source,
    /// Why consolidation leaves it out until a person releases it: what in it looks like an instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_for: Option<Value>,
    pub metadata: Map<String, Value>,
}
