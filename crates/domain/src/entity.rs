use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::ids::EntityId;
use crate::kinds::EntityType;

/// A person, organization, place or thing that facts are about: one stable identity with several names.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Entity {
    pub id: EntityId,
    pub tenant_id: String,
    pub canonical_name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
    pub metadata: Map<String, Value>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
