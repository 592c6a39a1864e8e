//! The answer to storing a fact.

use serde::{Deserialize, Serialize};

use crate::{EntityId, EntityType, FactId};

/// What became of a fact. Kept with its idempotency key, so it must stay readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StoredFact {
    /// The new fact's id, or the id of the known fact that it confirmed.
    pub id: FactId,
    /// The fact it superseded: the active one with the same subject (or entity), predicate and scope. Null if there was
    /// none.
    pub superseded_id: Option<FactId>,
    /// The entity it is about. Null if no entity, or more than one, has the subject's name.
    #[serde(default)]
    pub entity_id: Option<EntityId>,
    /// How the entity was found: by the subject's name, or as the owner ("user", "me", "I"). Null if it was given, or none
    /// was found.
    #[serde(default)]
    pub linked_by: Option<LinkedBy>,
    /// The entities of that name if there are several. The fact is then about none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<NamedEntity>,
    /// The entity at the other end, if the fact is a relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_entity_id: Option<EntityId>,
    /// The entities of the object's name if there are several. The fact is then related to none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub object_candidates: Vec<NamedEntity>,
    /// Whether the same statement was known already. It counts as confirmed, and nothing new was stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirmed: bool,
    /// Whether it waits for a person's approval, because its source is not trusted. Until then it has no effect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub proposed: bool,
    /// Whether nothing else is known about its subject, so that there is nothing to compare it with. Callers do not see it.
    /// Always false for a fact with an entity or with dates.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub alone: bool,
    /// What to do about candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How a fact without an entity id found its entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkedBy {
    Name,
    Owner,
}

/// One of several entities that a name may mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NamedEntity {
    pub entity_id: EntityId,
    pub canonical_name: String,
    pub entity_type: EntityType,
}

impl StoredFact {
    /// Tells the caller how to choose among candidates.
    pub fn with_hint(mut self) -> Self {
        let (name, argument) = match (self.candidates.is_empty(), self.object_candidates.is_empty()) {
            (true, true) => return self,
            (false, _) => ("subject", "entity_id"),
            (true, false) => ("object", "object_entity_id"),
        };
        self.hint = Some(format!(
            "several entities have the {name}'s name: store the same fact again with the {argument} of one of them"
        ));
        self
    }
}
