//! Manual corrections: a fact is superseded by a new version; a rule is rewritten in place and becomes a candidate
//! again.

use butler_domain::event::EventType;
use butler_domain::times::StatedDates;
use butler_domain::validate::Invalid;
use butler_domain::{Fact, FactId, Maturity, MemoryType, Permanence, Rule, RuleId, Scope, StoredFact};
use butler_store::rules::DEFAULT_DECAY_RATE;
use butler_store::rules_edit::{self, Edited};
use butler_store::{Session, facts, restore, rules_feedback};
use serde_json::{Map, Value};

use crate::remember::{FactInput, stored};
use crate::{Call, Memory, MemoryError};

/// The validated changes to a fact. `None` keeps the value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactChanges {
    pub content: Option<String>,
    pub importance: Option<f64>,
    pub permanence: Option<Permanence>,
    pub tags: Option<Vec<String>>,
    /// When it is true, as far as it changes.
    pub dates: StatedDates,
    /// Subject, predicate and scope are the key of the fact. A new one moves the fact to another key.
    pub subject: Option<String>,
    pub predicate: Option<String>,
    pub scope: Option<Scope>,
}

impl FactChanges {
    /// Whether the change alters what the fact says, not only its importance or permanence.
    fn restate(&self, old: &Fact) -> bool {
        let differs = |new: &Option<String>, old: &str| new.as_deref().is_some_and(|new| new != old);
        differs(&self.content, &old.content)
            || differs(&self.subject, &old.subject)
            || differs(&self.predicate, &old.predicate)
            || !self.dates.is_empty()
    }
}

/// The validated changes to a rule. `None` keeps the value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RuleChanges {
    pub content: Option<String>,
    pub scope: Option<Scope>,
    pub permanence: Option<Permanence>,
    pub tags: Option<Vec<String>>,
}

/// Another writer may lock the same key first and cause a deadlock or serialization error, but hardly three times.
const ATTEMPTS: u32 = 3;

impl Memory {
    /// Stores a new version that supersedes an active fact. Returns `None` if the fact does not exist.
    pub async fn edit_fact(
        &self,
        call: &Call,
        id: FactId,
        changes: &FactChanges,
    ) -> Result<Option<StoredFact>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut attempt = 1;
        loop {
            match self.edit_fact_once(&mut conn, call, id, changes).await {
                Err(MemoryError::Store(error)) if attempt < ATTEMPTS && error.was_aborted() => {
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    async fn edit_fact_once(
        &self,
        conn: &mut Session,
        call: &Call,
        id: FactId,
        changes: &FactChanges,
    ) -> Result<Option<StoredFact>, MemoryError> {
        let Some(old) = butler_store::browse::facts::one(conn, &call.tenant, id.0, call.now).await? else {
            return Ok(None);
        };
        let old = old.fact;
        let restated = changes.restate(&old);
        let metadata = without_fading_status(old.metadata);
        let same_subject = changes.subject.as_ref().is_none_or(|subject| *subject == old.subject);
        let scope = match &changes.scope {
            Some(scope) => scope.clone(),
            None => Scope::new(old.scope).map_err(Invalid::from)?,
        };
        let input = FactInput {
            // Another subject names another entity.
            entity_id: old.entity_id.filter(|_| same_subject),
            subject: changes.subject.clone().unwrap_or(old.subject),
            predicate: changes.predicate.clone().unwrap_or(old.predicate),
            content: changes.content.clone().unwrap_or(old.content),
            importance: Some(changes.importance.unwrap_or(old.importance)),
            permanence: Some(changes.permanence.unwrap_or(old.permanence)),
            scope,
            tags: Some(changes.tags.clone().unwrap_or(old.tags)),
            object_entity_id: old.object_entity_id,
            object: None,
            // The episode did not say what the caller says now; the version before keeps it as its source.
            source_episode_id: old.source_episode_id.filter(|_| !restated),
            source_butler: old.source_butler.filter(|_| !restated),
            dates: changes.dates.clone(),
            override_tombstone: true,
            metadata,
        };
        let mut fact = self.new_fact(call, input).await?;
        fact.replaces = Some(id);
        fact.corrects = true;
        fact.trust.vouch_for_episodes();
        let mut tx = conn.begin().await?;
        let Some(locked) = restore::lock(&mut tx, &call.tenant, id).await? else { return Ok(None) };
        if locked.validity != "active" {
            let current = locked.holder.map(|id| id.to_string());
            return Err(not_current(id, &locked.validity, current));
        }
        let outcome = facts::store(call.write(&mut tx), &fact, None).await?;
        let stored = stored(&fact, outcome)?;
        tx.commit().await?;
        self.find_conflicts_later(call, stored.id, fact.side());
        Ok(Some(stored))
    }

    /// Rewrites a rule in place. With new text it becomes a candidate again, with zero marks; `rule_applications` keeps the
    /// old ones.
    /// Returns `None` if the rule does not exist.
    pub async fn edit_rule(&self, call: &Call, id: RuleId, changes: &RuleChanges) -> Result<Option<Rule>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let Some(current) = butler_store::browse::rules::one(&mut conn, &call.tenant, id.0, call.now).await? else {
            return Ok(None);
        };
        let content = changes.content.clone().unwrap_or(current.rule.content);
        let embedding = self.embed(&content).await?;
        let mut tx = conn.begin().await?;
        let Some(rule) = rules_feedback::lock(&mut tx, &call.tenant, id).await? else { return Ok(None) };
        if rule.metadata.get("forgotten") == Some(&Value::Bool(true)) {
            let state = "forgotten".to_owned();
            return Err(MemoryError::Gone { memory_type: MemoryType::Rule, id: id.0, state, done: "edited" });
        }
        let (permanence, decay_rate) = match changes.permanence {
            Some(permanence) => (permanence, permanence.decay_rate()),
            None => (rule.permanence, rule.decay_rate),
        };
        let is_new_text = content != rule.content;
        let edited = Edited {
            content,
            scope: changes.scope.as_ref().map_or_else(|| rule.scope.clone(), |scope| scope.as_str().to_owned()),
            maturity: if is_new_text { Maturity::Candidate } else { rule.maturity },
            permanence,
            decay_rate,
            effectiveness_score: if is_new_text { 0.0 } else { rule.effectiveness_score },
            applied_count: if is_new_text { 0 } else { rule.applied_count },
            success_count: if is_new_text { 0 } else { rule.success_count },
            harmful_count: if is_new_text { 0 } else { rule.harmful_count },
            last_confirmed_at: Some(call.now),
            tags: changes.tags.clone().unwrap_or_else(|| rule.tags.clone()),
            metadata: if is_new_text {
                without_feedback(rule.metadata.clone())
            } else {
                without_fading_status(rule.metadata.clone())
            },
            embedding,
        };
        rules_edit::apply(call.write(&mut tx), &rule, &edited, EventType::RuleEdited).await?;
        tx.commit().await?;
        Ok(butler_store::browse::rules::one(&mut conn, &call.tenant, id.0, call.now).await?.map(|item| item.rule))
    }

    /// Reverts the last edit of a rule. Returns `None` if there is none, or if the rule changed since.
    pub(crate) async fn revert_rule_edit(&self, call: &Call, id: RuleId) -> Result<Option<()>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let Some(before) = rules_edit::before_last_edit(&mut conn, &call.tenant, id.0).await? else { return Ok(None) };
        let content = before["content"].as_str().unwrap_or_default().to_owned();
        let embedding = self.embed(&content).await?;
        let mut tx = conn.begin().await?;
        let Some(rule) = rules_feedback::lock(&mut tx, &call.tenant, id).await? else { return Ok(None) };
        if rules_edit::before_last_edit(&mut tx, &call.tenant, id.0).await?.as_ref() != Some(&before) {
            return Ok(None);
        }
        let restored = state_before_edit(&before, &rule, content, embedding);
        rules_edit::apply(call.write(&mut tx), &rule, &restored, EventType::RuleRestored).await?;
        tx.commit().await?;
        Ok(Some(()))
    }
}

/// The recorded state of a rule. Fields missing from the record keep the current value.
fn state_before_edit(before: &Value, current: &Rule, content: String, embedding: butler_store::Embedded) -> Edited {
    fn read<T: serde::de::DeserializeOwned>(before: &Value, field: &str) -> Option<T> {
        serde_json::from_value(before.get(field)?.clone()).ok()
    }
    Edited {
        content,
        scope: read(before, "scope").unwrap_or_else(|| current.scope.clone()),
        maturity: read(before, "maturity").unwrap_or(current.maturity),
        permanence: read(before, "permanence").unwrap_or(current.permanence),
        decay_rate: read(before, "decay_rate").unwrap_or(DEFAULT_DECAY_RATE),
        effectiveness_score: read(before, "effectiveness_score").unwrap_or(0.0),
        applied_count: read(before, "applied_count").unwrap_or(0),
        success_count: read(before, "success_count").unwrap_or(0),
        harmful_count: read(before, "harmful_count").unwrap_or(0),
        last_confirmed_at: read(before, "last_confirmed_at").unwrap_or(current.last_confirmed_at),
        tags: read(before, "tags").unwrap_or_else(|| current.tags.clone()),
        metadata: read(before, "metadata").unwrap_or_else(|| current.metadata.clone()),
        embedding,
    }
}

fn not_current(id: FactId, state: &str, current: Option<String>) -> MemoryError {
    match current {
        Some(current) => MemoryError::InvalidState {
            message: format!("fact {id} is {state}, so it cannot be edited"),
            hint: format!("edit the current version, {current}"),
        },
        None => MemoryError::Gone { memory_type: MemoryType::Fact, id: id.0, state: state.to_owned(), done: "edited" },
    }
}

/// Removes the keys that marks and inversion have set, because they refer to the old content.
fn without_feedback(metadata: Map<String, Value>) -> Map<String, Value> {
    let mut metadata = without_fading_status(metadata);
    for key in ["harmful_reasons", "needs_inversion", "original_content"] {
        metadata.remove(key);
    }
    metadata
}

/// Removes the status `fading` and restores the caller's own status, like the SQL function `fading_unmarked`.
pub(crate) fn without_fading_status(mut metadata: Map<String, Value>) -> Map<String, Value> {
    if metadata.get("status") == Some(&"fading".into()) {
        metadata.remove("status");
        if let Some(status) = metadata.remove("status_before_fading") {
            metadata.insert("status".to_owned(), status);
        }
    }
    metadata
}
