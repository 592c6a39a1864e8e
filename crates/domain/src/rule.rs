use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{EpisodeId, RuleId};
use crate::kinds::{Maturity, Permanence};

/// Guidance on how to act. Helpful and harmful marks change its maturity; a rule that does harm becomes an
/// anti-pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rule {
    pub id: RuleId,
    pub tenant_id: String,
    pub content: String,
    pub scope: String,
    pub maturity: Maturity,
    pub confidence: f64,
    pub decay_rate: f64,
    pub permanence: Permanence,
    pub effectiveness_score: f64,
    pub applied_count: i32,
    pub success_count: i32,
    pub harmful_count: i32,
    pub source_episode_id: Option<EpisodeId>,
    pub source_butler: Option<String>,
    pub created_at: Timestamp,
    pub last_applied_at: Option<Timestamp>,
    pub last_evaluated_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    pub reference_count: i32,
    pub last_referenced_at: Option<Timestamp>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
}
