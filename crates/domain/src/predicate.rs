use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::{Cardinality, EntityType};

/// What is known about a predicate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Predicate {
    /// Compared without case; space, underscore and hyphen are the same.
    pub name: String,
    /// one: a new value supersedes the old one. many: values coexist.
    pub cardinality: Cardinality,
    /// The same relation seen from the object, such as has_child for child_of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<String>,
    /// Whether the relation holds in both directions, such as married_to.
    #[serde(default)]
    pub symmetric: bool,
    /// Whether each value belongs to a moment, such as a measurement.
    #[serde(default)]
    pub temporal: bool,
    /// The type of entity that the object is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_type: Option<EntityType>,
    #[serde(default)]
    pub description: String,
    /// Whether every tenant knows it.
    #[serde(default)]
    pub built_in: bool,
}

impl Predicate {
    /// The text that search by meaning compares.
    pub fn text(&self) -> String {
        format!("{}: {}", self.name.replace(['_', '-'], " "), self.description)
    }
}
