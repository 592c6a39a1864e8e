//! The actions that an answer may contain. In each, `episode_ids` names the episodes it is derived from; an empty list
//! means all episodes of the batch.

use std::collections::HashSet;

use uuid::Uuid;

use crate::ids::{EpisodeId, FactId};
use crate::kinds::{EntityType, Permanence};
use crate::times::GivenTexts;

/// A fact to store. It supersedes the active fact with the same subject and predicate.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    pub subject: String,
    pub predicate: String,
    pub content: String,
    /// The name of the entity that it relates the subject to.
    pub object: Option<String>,
    /// `None`, like the next two: that of the fact it supersedes, else the default.
    pub permanence: Option<Permanence>,
    /// 1 to 10; values outside are clamped.
    pub importance: Option<f64>,
    pub tags: Option<Vec<String>>,
    /// When it is true, if the episodes tell.
    pub dates: GivenTexts,
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
    pub dates: GivenTexts,
    pub episode_ids: Vec<EpisodeId>,
}

/// A person or thing that facts are about, to create unless an entity has the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntity {
    pub name: String,
    pub entity_type: EntityType,
    pub aliases: Vec<String>,
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
    pub entities: Vec<NewEntity>,
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
        self.new_facts.len()
            + self.updated_facts.len()
            + self.new_rules.len()
            + self.confirmations.len()
            + self.entities.len()
    }

    /// Why the attempt failed, if it did. An answer with only empty lists means that there was nothing to learn; an
    /// answer in which no action is valid is a failed attempt.
    pub fn failure(&self) -> Option<String> {
        let first = || self.parse_errors.first().map_or("the answer has no known list", String::as_str);
        if !self.answered {
            return Some(first().to_owned());
        }
        (self.action_count() == 0 && self.dropped > 0).then(|| format!("no action of the answer is valid: {}", first()))
    }

    /// Adds the actions of a later answer. They replace those with the same subject and predicate, the same target, or
    /// the same content of a rule.
    pub(super) fn replace_with(&mut self, later: Self) {
        let facts = later.new_facts.iter().map(|fact| fact_key(&fact.subject, &fact.predicate));
        let updates = later.updated_facts.iter().map(|fact| fact_key(&fact.subject, &fact.predicate));
        let keys: HashSet<(String, String)> = facts.chain(updates).collect();
        let updated = later.updated_facts.iter().map(|fact| fact.target_id.0);
        let targets: HashSet<Uuid> = updated.chain(later.confirmations.iter().map(|action| action.id)).collect();
        let rules: HashSet<String> = later.new_rules.iter().map(|rule| rule.content.to_lowercase()).collect();
        self.new_facts.retain(|fact| !keys.contains(&fact_key(&fact.subject, &fact.predicate)));
        self.updated_facts.retain(|fact| {
            !targets.contains(&fact.target_id.0) && !keys.contains(&fact_key(&fact.subject, &fact.predicate))
        });
        self.new_rules.retain(|rule| !rules.contains(&rule.content.to_lowercase()));
        self.confirmations.retain(|action| !targets.contains(&action.id));
        let named = |name: &str| later.entities.iter().any(|entity| entity.name.to_lowercase() == name.to_lowercase());
        self.entities.retain(|entity| !named(&entity.name));
        self.entities.extend(later.entities);
        self.new_facts.extend(later.new_facts);
        self.updated_facts.extend(later.updated_facts);
        self.new_rules.extend(later.new_rules);
        self.confirmations.extend(later.confirmations);
        self.dropped += later.dropped;
        self.answered |= later.answered;
    }
}

fn fact_key(subject: &str, predicate: &str) -> (String, String) {
    (subject.to_lowercase(), predicate.to_lowercase())
}
