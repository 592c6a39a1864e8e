use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::{EntityId, EpisodeId, FactId};
use crate::kinds::{Permanence, Source, Validity};
use crate::times::ShownDates;

/// The metadata key that holds the name of a fact's object until exactly one entity has that name. Callers cannot set it,
/// so their own metadata never turns a fact into a relation.
pub const UNLINKED_OBJECT: &str = "unlinked_object";

/// A statement about a subject. Its confidence decays unless confirmed. A new fact with the same subject and predicate
/// supersedes it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Fact {
    pub id: FactId,
    pub tenant_id: String,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    /// How much it matters, 0 to 10.
    pub importance: f64,
    /// The confidence at the last confirmation, 0 to 1; it decays from there.
    pub confidence: f64,
    /// The rate of exponential decay per day. With 0 the confidence never decays.
    pub decay_rate: f64,
    pub permanence: Permanence,
    /// Where it comes from: the least trusted of who stored it and the episodes it is derived from.
    pub source: Source,
    pub source_butler: Option<String>,
    pub source_episode_id: Option<EpisodeId>,
    /// The fact that this one superseded.
    pub supersedes_id: Option<FactId>,
    pub entity_id: Option<EntityId>,
    /// The entity at the other end, if the fact is a relation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_entity_id: Option<EntityId>,
    pub validity: Validity,
    pub scope: String,
    /// How often it was used by a recall, a context block or a read.
    pub reference_count: i32,
    pub created_at: Timestamp,
    pub last_referenced_at: Option<Timestamp>,
    pub last_confirmed_at: Option<Timestamp>,
    #[serde(flatten)]
    pub dates: ShownDates,
    pub tags: Vec<String>,
    pub metadata: Map<String, Value>,
}
