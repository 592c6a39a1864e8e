//! Marks: the recorded outcomes of applying a rule, which promote or demote it.

use butler_domain::maturity::{RuleState, RuleThresholds, mark_harmful, mark_helpful};
use butler_domain::{MemoryType, RuleId, limits};
use butler_store::rules_feedback::{Mark, Marked, apply_mark, lock};
use serde_json::{Map, Value};

use crate::config::RulesConfig;
use crate::edit::without_fading_status;
use crate::views::RuleView;
use crate::{Call, Memory, MemoryError};

/// What a caller may say about a mark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MarkNote {
    pub reason: Option<String>,
    /// The situation in which the rule was applied.
    pub context: Map<String, Value>,
}

impl Memory {
    /// Records that a rule helped, which confirms it: its decay restarts. Returns `None` if the rule does not exist.
    pub async fn mark_helpful(
        &self,
        call: &Call,
        id: RuleId,
        note: &MarkNote,
    ) -> Result<Option<RuleView>, MemoryError> {
        self.mark(call, id, Mark::Helpful, note).await
    }

    /// Records that a rule did harm, and why. Returns `None` if the rule does not exist.
    pub async fn mark_harmful(
        &self,
        call: &Call,
        id: RuleId,
        note: &MarkNote,
    ) -> Result<Option<RuleView>, MemoryError> {
        self.mark(call, id, Mark::Harmful, note).await
    }

    /// The configured thresholds for promotion, demotion and inversion.
    pub fn rule_thresholds(&self) -> RuleThresholds {
        thresholds(&self.config().rules)
    }

    /// Keeps the row locked from reading its counts to writing them, so that concurrent marks are not lost.
    async fn mark(
        &self,
        call: &Call,
        id: RuleId,
        mark: Mark,
        note: &MarkNote,
    ) -> Result<Option<RuleView>, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let mut tx = conn.begin().await?;
        let Some(rule) = lock(&mut tx, &call.tenant, id).await? else {
            tx.rollback().await?;
            return Ok(None);
        };
        if rule.metadata.get("forgotten") == Some(&Value::Bool(true)) {
            tx.rollback().await?;
            return Err(forgotten(id));
        }
        let thresholds = thresholds(&self.config().rules);
        let outcome = match mark {
            Mark::Helpful => mark_helpful(&RuleState::from(&rule), &thresholds, call.now),
            Mark::Harmful => mark_harmful(&RuleState::from(&rule), &thresholds),
        };
        let MarkNote { reason, context } = note;
        let reason = reason.as_deref();
        let metadata = match mark {
            Mark::Helpful => {
                without_fading_status(marked_metadata(rule.metadata.clone(), outcome.needs_inversion, None))
            }
            Mark::Harmful => marked_metadata(rule.metadata.clone(), outcome.needs_inversion, reason),
        };
        let marked = Marked { mark, reason, context, outcome: &outcome, metadata };
        let rule = apply_mark(call.write(&mut tx), rule, marked).await?;
        tx.commit().await?;
        if outcome.needs_inversion {
            self.inversion().notify_one();
        }
        Ok(Some(RuleView::at(rule, call.now)))
    }
}

fn forgotten(id: RuleId) -> MemoryError {
    MemoryError::Gone { memory_type: MemoryType::Rule, id: id.0, state: "forgotten".to_owned(), done: "marked" }
}

pub(crate) fn thresholds(config: &RulesConfig) -> RuleThresholds {
    let to_i32 = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    RuleThresholds {
        established_successes: to_i32(config.established.successes),
        established_effectiveness: config.established.effectiveness,
        proven_successes: to_i32(config.proven.successes),
        proven_effectiveness: config.proven.effectiveness,
        proven_age_days: config.proven.age_days,
        anti_pattern_harmful: to_i32(config.anti_pattern.harmful),
        anti_pattern_effectiveness: config.anti_pattern.effectiveness,
    }
}

/// Sets or clears `needs_inversion` and adds the reason. Clearing it keeps a rule that recovered from being inverted.
fn marked_metadata(
    mut metadata: Map<String, Value>,
    needs_inversion: bool,
    reason: Option<&str>,
) -> Map<String, Value> {
    if needs_inversion {
        metadata.insert("needs_inversion".to_owned(), Value::Bool(true));
    } else {
        metadata.remove("needs_inversion");
    }
    if let Some(reason) = reason {
        let mut reasons = match metadata.remove("harmful_reasons") {
            Some(Value::Array(reasons)) => reasons,
            Some(other) => vec![other],
            None => Vec::new(),
        };
        reasons.push(reason.into());
        let surplus = reasons.len().saturating_sub(limits::HARMFUL_REASONS);
        reasons.drain(..surplus);
        metadata.insert("harmful_reasons".to_owned(), Value::Array(reasons));
    }
    metadata
}
