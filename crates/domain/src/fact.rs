use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{EntityId, EpisodeId, FactId};
use crate::kinds::{Permanence, Validity};

/// A statement about a subject. Its confidence decays unless confirmed. A new fact with the same subject and predicate
/// supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    pub id: FactId,
    pub tenant_id: String,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub importance: f64,
    pub confidence: f64,
    pub decay_rate: f64,
    pub permanence: Permanence,
    pub source_butler: Option<String>,
    pub source_episode_id: Option<EpisodeId>,
    pub supersedes_id: Option<FactId>,
    pub entity_id: Option<EntityId>,
    pub validity: Validity,
    pub scope: String,
    pub reference_count: i32,
    pub created_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
}
