//! The actions that an answer may contain. In each, `episode_ids` names the episodes it is derived from; an empty list
//! means all episodes of the batch.

use uuid::Uuid;

use crate::ids::{EpisodeId, FactId};
use crate::kinds::Permanence;

/// A fact to store. It supersedes the active fact with the same subject and predicate.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    pub subject: String,
    pub predicate: String,
    pub content: String,
    pub permanence: Permanence,
    /// 1 to 10; values outside are clamped.
    pub importance: f64,
    pub tags: Vec<String>,
    pub episode_ids: Vec<EpisodeId>,
}

/// New content for an existing fact. `None` keeps the target's value.
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

/// A rule to store, as a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRule {
    pub content: String,
    pub permanence: Option<Permanence>,
    pub tags: Vec<String>,
    pub episode_ids: Vec<EpisodeId>,
}

/// A fact or rule that the episodes confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The id of a fact or of a rule; the answer does not say which.
    pub id: Uuid,
    pub episode_ids: Vec<EpisodeId>,
}

/// A parsed answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConsolidationResult {
    pub new_facts: Vec<NewFact>,
    pub updated_facts: Vec<UpdatedFact>,
    pub new_rules: Vec<NewRule>,
    pub confirmations: Vec<Confirmation>,
    /// Every problem with its location, such as `new_facts[2].subject: missing`.
    pub parse_errors: Vec<String>,
    /// Number of parts that could not be used: invalid entries, values that are not lists, an end that was cut off.
    /// Repaired parts do not count.
    pub dropped: usize,
    /// Whether the text contains an object with at least one known key. If false, the attempt failed. If true and there
    /// are no actions, there was nothing to learn.
    pub answered: bool,
}

impl ConsolidationResult {
    /// The number of actions of all kinds.
    pub fn action_count(&self) -> usize {
        self.new_facts.len() + self.updated_facts.len() + self.new_rules.len() + self.confirmations.len()
    }
}
