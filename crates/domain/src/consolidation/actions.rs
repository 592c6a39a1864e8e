//! What a consolidation may ask for. Each action may name the episodes it comes from; without them it comes from all.

use uuid::Uuid;

use crate::ids::{EpisodeId, FactId};
use crate::kinds::Permanence;

#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub permanence: Permanence,
    pub importance: f64,
    pub tags: Vec<String>,
    pub episode_ids: Vec<EpisodeId>,
}

/// A new content for a fact that exists. What is not given stays as the target has it.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdatedFact {
    pub target_id: FactId,
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub permanence: Option<Permanence>,
    pub importance: Option<f64>,
    pub tags: Option<Vec<String>>,
    pub episode_ids: Vec<EpisodeId>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewRule {
    pub content: String,
    pub permanence: Option<Permanence>,
    pub tags: Vec<String>,
    pub episode_ids: Vec<EpisodeId>,
}

/// A fact or rule that the episodes confirm: which of the two the id is, only the database knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub id: Uuid,
    pub episode_ids: Vec<EpisodeId>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConsolidationResult {
    pub new_facts: Vec<NewFact>,
    pub updated_facts: Vec<UpdatedFact>,
    pub new_rules: Vec<NewRule>,
    pub confirmations: Vec<Confirmation>,
    /// Every problem with its place, such as `new_facts[2].subject: missing`.
    pub parse_errors: Vec<String>,
    /// What was said and could not be used: entries, lists that are none, the end of an answer that was cut off. What was
    /// repaired is not among it.
    pub dropped: usize,
    /// Whether there was an answer at all: an object with at least one known key. Without it the attempt failed;
    /// with it, no actions means that there was nothing to learn.
    pub answered: bool,
}

impl ConsolidationResult {
    pub fn action_count(&self) -> usize {
        self.new_facts.len() + self.updated_facts.len() + self.new_rules.len() + self.confirmations.len()
    }
}
