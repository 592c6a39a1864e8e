//! Adds the ids in an answer to the journal, and to the memories that the tenant's clients know.

use std::time::Instant;

use serde_json::Value;
use uuid::Uuid;

use super::Worker;
use crate::journal::{Change, Kind};

impl Worker {
    pub(super) fn learn(&self, change: &mut Change, answer: &Value) {
        let given = |name: &str| answer[name].as_str().and_then(|id| id.parse::<Uuid>().ok());
        let mut known = self.world.tenants[self.tenant].known();
        match change {
            Change::Store { kind, id, superseded, .. } => {
                *id = given("id");
                *superseded = given("superseded_id");
                if let Some(id) = id {
                    known.learn(*kind, *id);
                }
            }
            Change::Propose { id, .. } => *id = given("id").filter(|_| answer["proposed"] == true),
            Change::CreateEntity { id, .. } => {
                *id = given("entity_id");
                if let Some(id) = id {
                    known.learn_entity(*id);
                }
            }
            Change::Forget { id, changed, .. } => {
                *changed = answer["changed"] == true;
                known.forgotten.insert(*id, Instant::now());
            }
            Change::ForgetEntity { id, .. } => known.entities.retain(|entity| entity != id),
            _ => {}
        }
    }
}

impl Change {
    /// Whether the call names a fact, a rule or an entity. Unlike an episode, only an erasure removes it.
    pub fn names_a_permanent_row(&self) -> bool {
        match self {
            Self::Get { kind } | Self::Confirm { kind, .. } | Self::Forget { kind, .. } => *kind != Kind::Episode,
            Self::Mark { .. }
            | Self::GetEntity
            | Self::UpdateEntity { .. }
            | Self::MergeEntities { .. }
            | Self::ForgetEntity { .. } => true,
            Self::Nothing | Self::Work | Self::Store { .. } | Self::Propose { .. } | Self::CreateEntity { .. } => false,
        }
    }
}
