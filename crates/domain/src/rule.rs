use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{EpisodeId, RuleId};
use crate::kinds::{Maturity, Permanence, Source};

/// Guidance on how to act. Helpful and harmful marks change its maturity; a rule that does harm becomes an
/// anti-pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rule {
    pub id: RuleId,
    pub tenant_id: String,
    pub content: String,
    pub scope: String,
    pub maturity: Maturity,
    /// The confidence at the last confirmation, 0 to 1; it decays from there.
    pub confidence: f64,
    /// The rate of exponential decay per day. With 0 the confidence never decays.
    pub decay_rate: f64,
    pub permanence: Permanence,
    /// How well the rule works according to its marks, 0 to 1.
    pub effectiveness_score: f64,
    /// The number of all marks.
    pub applied_count: i32,
    /// The number of helpful marks.
    pub success_count: i32,
    /// The number of harmful marks.
    pub harmful_count: i32,
    /// Where it comes from: the least trusted of who stored it and the episodes it is derived from.
    pub source: Source,
    pub source_episode_id: Option<EpisodeId>,
    pub source_butler: Option<String>,
    pub created_at: Timestamp,
    pub last_applied_at: Option<Timestamp>,
    pub last_evaluated_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    /// How often it was used by a recall, a context block or a read.
    pub reference_count: i32,
    pub last_referenced_at: Option<Timestamp>,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
}
