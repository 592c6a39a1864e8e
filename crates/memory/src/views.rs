//! Memories as tools and the REST API return them: the stored fields and the effective confidence.

use butler_domain::decay::effective_confidence;
use butler_domain::{Episode, Fact, Rule, Timestamp};
use butler_store::times::Period;
use schemars::JsonSchema;
use serde::Serialize;

/// A memory of any type. Its fields are at the top level of the JSON object.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "memory_type", rename_all = "snake_case")]
pub enum MemoryView {
    Episode(Episode),
    Fact(FactView),
    Rule(RuleView),
}

/// A fact as tools return it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactView {
    #[serde(flatten)]
    pub fact: Fact,
    /// The confidence left after decay since the last confirmation.
    pub effective_confidence: f64,
    /// All facts of its key in the order of time, if there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Period>,
}

/// A rule as tools return it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RuleView {
    #[serde(flatten)]
    pub rule: Rule,
    /// The confidence left after decay since the last confirmation.
    pub effective_confidence: f64,
}

impl FactView {
    /// Adds the effective confidence at `now`.
    pub fn at(fact: Fact, now: Timestamp) -> Self {
        let effective_confidence = effective_confidence(fact.confidence, fact.decay_rate, fact.last_confirmed_at, now);
        Self { fact, effective_confidence, timeline: Vec::new() }
    }
}

impl RuleView {
    /// Adds the effective confidence at `now`.
    pub fn at(rule: Rule, now: Timestamp) -> Self {
        let effective_confidence = effective_confidence(rule.confidence, rule.decay_rate, rule.last_confirmed_at, now);
        Self { rule, effective_confidence }
    }
}
