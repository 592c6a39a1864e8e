use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::kinds::{MemoryType, Relation};

/// A directed edge between two memories, for example from a fact to the episode it was derived from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    pub source_type: MemoryType,
    pub source_id: Uuid,
    pub target_type: MemoryType,
    pub target_id: Uuid,
    pub relation: Relation,
    pub created_at: Timestamp,
}
