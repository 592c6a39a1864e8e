//! Promotion and demotion of rules. A mark is one recorded outcome of applying a rule, helpful or harmful. It changes
//! the maturity by one level at most, and only a harmful mark demotes.

use crate::clock::{Timestamp, days_between};
use crate::kinds::Maturity;
use crate::rule::Rule;

/// One harmful outcome weighs as much as four helpful ones.
const HARMFUL_WEIGHT: f64 = 4.0;
/// Prevents a division by zero in the harmful formula and keeps its result below 1.
const HARMFUL_EPSILON: f64 = 0.01;
/// The reason in an inverted rule's text when no mark gave one.
pub const NO_REASON: &str = "repeated failures";

/// What a rule needs for each maturity level, from `[modules.memory.rules]`. Effectiveness ranges from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleThresholds {
    /// Helpful marks needed to become established.
    pub established_successes: i32,
    /// Effectiveness needed to become established, and to stay it.
    pub established_effectiveness: f64,
    /// Helpful marks needed to become proven.
    pub proven_successes: i32,
    /// Effectiveness needed to become proven, and to stay it.
    pub proven_effectiveness: f64,
    /// Days since creation needed to become proven.
    pub proven_age_days: f64,
    /// Harmful marks after which a rule may be inverted.
    pub anti_pattern_harmful: i32,
    /// A rule is inverted only if its effectiveness is below this.
    pub anti_pattern_effectiveness: f64,
}

impl Default for RuleThresholds {
    fn default() -> Self {
        Self {
            established_successes: 5,
            established_effectiveness: 0.6,
            proven_successes: 15,
            proven_effectiveness: 0.8,
            proven_age_days: 30.0,
            anti_pattern_harmful: 3,
            anti_pattern_effectiveness: 0.3,
        }
    }
}

/// The requirements of a promotion.
struct Promotion {
    to: Maturity,
    successes: i32,
    effectiveness: f64,
    age_days: Option<f64>,
}

impl RuleThresholds {
    /// The promotion from `maturity` to the next level, or `None` for the highest level and for anti-patterns.
    fn next_promotion(&self, maturity: Maturity) -> Option<Promotion> {
        match maturity {
            Maturity::Candidate => Some(Promotion {
                to: Maturity::Established,
                successes: self.established_successes,
                effectiveness: self.established_effectiveness,
                age_days: None,
            }),
            Maturity::Established => Some(Promotion {
                to: Maturity::Proven,
                successes: self.proven_successes,
                effectiveness: self.proven_effectiveness,
                age_days: Some(self.proven_age_days),
            }),
            Maturity::Proven | Maturity::AntiPattern => None,
        }
    }
}

/// How often a rule was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleCounts {
    /// All marks.
    pub applied: i32,
    /// Helpful marks.
    pub success: i32,
    /// Harmful marks.
    pub harmful: i32,
}

/// The part of a rule that the effect of a mark depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleState {
    pub counts: RuleCounts,
    pub effectiveness: f64,
    pub maturity: Maturity,
    pub created_at: Timestamp,
}

impl From<&Rule> for RuleState {
    fn from(rule: &Rule) -> Self {
        Self {
            counts: RuleCounts {
                applied: rule.applied_count,
                success: rule.success_count,
                harmful: rule.harmful_count,
            },
            effectiveness: rule.effectiveness_score,
            maturity: rule.maturity,
            created_at: rule.created_at,
        }
    }
}

/// A change of a rule's maturity by one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaturityChange {
    Promoted { from: Maturity, to: Maturity },
    Demoted { from: Maturity, to: Maturity },
}

/// The state of a rule after a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkOutcome {
    pub counts: RuleCounts,
    pub effectiveness: f64,
    pub maturity: Maturity,
    pub change: Option<MaturityChange>,
    /// Written to `metadata.needs_inversion` after every mark, so that a rule that recovered is not inverted.
    pub needs_inversion: bool,
}

/// The outcome of a helpful mark. Effectiveness becomes `success / applied`.
pub fn mark_helpful(rule: &RuleState, thresholds: &RuleThresholds, now: Timestamp) -> MarkOutcome {
    let mut counts = count_application(rule.counts);
    counts.success = counts.success.saturating_add(1);
    let effectiveness = f64::from(counts.success) / f64::from(counts.applied);
    let from = rule.maturity;
    let age = days_between(rule.created_at, now);
    let promotion = thresholds.next_promotion(from).filter(|promotion| {
        counts.success >= promotion.successes
            && effectiveness >= promotion.effectiveness
            && promotion.age_days.is_none_or(|required| age >= required)
    });
    let to = promotion.map_or(from, |promotion| promotion.to);
    let change = (from != to).then_some(MaturityChange::Promoted { from, to });
    outcome(counts, effectiveness, to, change, thresholds)
}

/// The outcome of a harmful mark. Effectiveness becomes `success / (success + 4 · harmful + 0.01)`.
pub fn mark_harmful(rule: &RuleState, thresholds: &RuleThresholds) -> MarkOutcome {
    let mut counts = count_application(rule.counts);
    counts.harmful = counts.harmful.saturating_add(1);
    let success = f64::from(counts.success);
    let effectiveness = success / (success + HARMFUL_WEIGHT * f64::from(counts.harmful) + HARMFUL_EPSILON);
    let from = rule.maturity;
    let to = match from {
        Maturity::Established if effectiveness < thresholds.established_effectiveness => Maturity::Candidate,
        Maturity::Proven if effectiveness < thresholds.proven_effectiveness => Maturity::Established,
        unchanged => unchanged,
    };
    let change = (from != to).then_some(MaturityChange::Demoted { from, to });
    outcome(counts, effectiveness, to, change, thresholds)
}

/// Counts one more application. Negative counts of a damaged row become 0, because they could cause a division by zero.
fn count_application(counts: RuleCounts) -> RuleCounts {
    RuleCounts {
        applied: counts.applied.max(0).saturating_add(1),
        success: counts.success.max(0),
        harmful: counts.harmful.max(0),
    }
}

fn outcome(
    counts: RuleCounts,
    effectiveness: f64,
    maturity: Maturity,
    change: Option<MaturityChange>,
    thresholds: &RuleThresholds,
) -> MarkOutcome {
    let needs_inversion = eligible_for_inversion(maturity, counts, effectiveness, thresholds);
    MarkOutcome { counts, effectiveness, maturity, change, needs_inversion }
}

/// What a rule still needs to be promoted to its next level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextLevel {
    pub maturity: Maturity,
    /// Helpful marks still needed, provided that no harmful mark comes between them. At least 1, because only a mark
    /// promotes.
    pub helpful_marks: i32,
    /// Days until the rule is old enough.
    pub days: f64,
}

/// The next level of a rule, or `None` if there is none above.
pub fn next_level(rule: &RuleState, thresholds: &RuleThresholds, now: Timestamp) -> Option<NextLevel> {
    let Promotion { to: maturity, successes, effectiveness, age_days } = thresholds.next_promotion(rule.maturity)?;
    let (success, applied) = (f64::from(rule.counts.success.max(0)), f64::from(rule.counts.applied.max(0)));
    // The smallest n with (success + n) / (applied + n) ≥ effectiveness.
    let for_effectiveness = if effectiveness < 1.0 {
        ((effectiveness * applied - success) / (1.0 - effectiveness)).ceil().max(0.0)
    } else if success < applied {
        f64::from(i32::MAX)
    } else {
        0.0
    };
    let helpful_marks = (successes - rule.counts.success).max(for_effectiveness as i32).max(1);
    let days = age_days.map_or(0.0, |required| (required - days_between(rule.created_at, now)).max(0.0));
    Some(NextLevel { maturity, helpful_marks, days })
}

/// Whether a rule has enough harmful marks to be rewritten as a warning. Anti-patterns are warnings already: inverting
/// one again would recommend what it warns of.
pub fn eligible_for_inversion(
    maturity: Maturity,
    counts: RuleCounts,
    effectiveness: f64,
    thresholds: &RuleThresholds,
) -> bool {
    maturity != Maturity::AntiPattern
        && counts.harmful >= thresholds.anti_pattern_harmful
        && effectiveness < thresholds.anti_pattern_effectiveness
}

/// The text of a rule that becomes an anti-pattern, with the reasons of its harmful marks.
pub fn inverted_content<S: AsRef<str>>(original_content: &str, reasons: &[S]) -> String {
    let given: Vec<&str> = reasons.iter().map(|r| r.as_ref().trim()).filter(|r| !r.is_empty()).collect();
    let reasons = if given.is_empty() { NO_REASON.to_owned() } else { given.join("; ") };
    format!("ANTI-PATTERN: Do NOT {original_content}. This caused problems because: {reasons}")
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use proptest::prelude::*;

    use super::*;

    fn rule(applied: i32, success: i32, harmful: i32, maturity: Maturity) -> RuleState {
        let counts = RuleCounts { applied, success, harmful };
        let effectiveness = if applied > 0 { f64::from(success) / f64::from(applied) } else { 0.0 };
        RuleState { counts, effectiveness, maturity, created_at: DateTime::UNIX_EPOCH }
    }

    fn after_days(days: i64) -> Timestamp {
        DateTime::UNIX_EPOCH + TimeDelta::days(days)
    }

    fn helpful(rule: &RuleState, days: i64) -> MarkOutcome {
        mark_helpful(rule, &RuleThresholds::default(), after_days(days))
    }

    fn harmful(rule: &RuleState) -> MarkOutcome {
        mark_harmful(rule, &RuleThresholds::default())
    }

    #[test]
    fn mark_helpful_increments_counts_and_recalculates_effectiveness() {
        let after = helpful(&rule(7, 4, 1, Maturity::Proven), 0);
        assert_eq!(after.counts, RuleCounts { applied: 8, success: 5, harmful: 1 });
        assert_eq!(after.effectiveness, 5.0 / 8.0);
        assert_eq!((after.maturity, after.change), (Maturity::Proven, None), "only a harmful mark demotes");
    }

    #[test]
    fn mark_harmful_increments_counts_with_4x_penalty_formula() {
        let after = harmful(&rule(10, 9, 1, Maturity::Candidate));
        assert_eq!(after.counts, RuleCounts { applied: 11, success: 9, harmful: 2 });
        assert_eq!(after.effectiveness, 9.0 / (9.0 + 4.0 * 2.0 + 0.01));
    }

    #[test]
    fn rule_promotion_from_candidate_to_established() {
        assert_eq!(helpful(&rule(3, 3, 0, Maturity::Candidate), 0).maturity, Maturity::Candidate);
        let after = helpful(&rule(4, 4, 0, Maturity::Candidate), 0);
        assert_eq!(
            after.change,
            Some(MaturityChange::Promoted { from: Maturity::Candidate, to: Maturity::Established })
        );
        assert_eq!(helpful(&rule(8, 4, 0, Maturity::Candidate), 0).maturity, Maturity::Candidate, "5/9 < 0.6");
    }

    #[test]
    fn rule_promotion_from_established_to_proven() {
        assert_eq!(helpful(&rule(14, 14, 0, Maturity::Established), 30).maturity, Maturity::Proven);
        assert_eq!(helpful(&rule(14, 14, 0, Maturity::Established), 29).maturity, Maturity::Established);
        assert_eq!(helpful(&rule(18, 14, 0, Maturity::Established), 30).maturity, Maturity::Established, "15/19 < 0.8");
        let candidate = helpful(&rule(14, 14, 0, Maturity::Candidate), 30);
        assert_eq!(candidate.maturity, Maturity::Established, "one level per mark");
    }

    #[test]
    fn rule_demotion_from_established_to_candidate() {
        let after = harmful(&rule(5, 5, 0, Maturity::Established));
        assert_eq!(
            after.change,
            Some(MaturityChange::Demoted { from: Maturity::Established, to: Maturity::Candidate })
        );
        assert_eq!(harmful(&rule(20, 20, 0, Maturity::Established)).maturity, Maturity::Established);
    }

    #[test]
    fn rule_demotion_from_proven_to_established() {
        assert_eq!(harmful(&rule(15, 15, 0, Maturity::Proven)).maturity, Maturity::Established);
        let ruined = harmful(&rule(20, 15, 5, Maturity::Proven));
        assert_eq!(ruined.maturity, Maturity::Established, "one level per mark, however low the effectiveness");
    }

    #[test]
    fn anti_pattern_inversion_trigger() {
        assert!(!harmful(&rule(1, 0, 1, Maturity::Candidate)).needs_inversion);
        let third = harmful(&rule(2, 0, 2, Maturity::Candidate));
        assert!(third.needs_inversion);
        let mostly_helpful = harmful(&rule(12, 10, 2, Maturity::Established));
        assert!(!mostly_helpful.needs_inversion, "10/22.01 is not below 0.3");
    }

    #[test]
    fn needs_inversion_is_recomputed_at_each_mark() {
        let recovered = helpful(&rule(4, 1, 3, Maturity::Candidate), 0);
        assert_eq!(recovered.effectiveness, 2.0 / 5.0);
        assert!(!recovered.needs_inversion);
    }

    #[test]
    fn an_anti_pattern_is_never_promoted_or_inverted() {
        let warning = rule(40, 30, 10, Maturity::AntiPattern);
        assert_eq!(helpful(&warning, 99).maturity, Maturity::AntiPattern);
        let after = harmful(&rule(9, 0, 9, Maturity::AntiPattern));
        assert_eq!((after.maturity, after.needs_inversion), (Maturity::AntiPattern, false));
    }

    #[test]
    fn rule_inversion_to_anti_pattern_rewrites_the_content() {
        assert_eq!(
            inverted_content("Email at night", &["woke them", " ", "ignored"]),
            "ANTI-PATTERN: Do NOT Email at night. This caused problems because: woke them; ignored"
        );
        assert_eq!(
            inverted_content::<&str>("x", &[]),
            "ANTI-PATTERN: Do NOT x. This caused problems because: repeated failures"
        );
    }

    #[test]
    fn the_predicted_number_of_helpful_marks_promotes() {
        let (thresholds, now) = (RuleThresholds::default(), after_days(100));
        let mut rule = rule(6, 2, 4, Maturity::Candidate);
        let next = next_level(&rule, &thresholds, now).unwrap();
        assert_eq!((next.maturity, next.days), (Maturity::Established, 0.0));
        for mark in 1..=next.helpful_marks {
            let outcome = mark_helpful(&rule, &thresholds, now);
            assert_eq!(outcome.maturity == Maturity::Established, mark == next.helpful_marks, "mark {mark}");
            rule = RuleState { counts: outcome.counts, effectiveness: outcome.effectiveness, ..rule };
        }
    }

    proptest! {
        #[test]
        fn a_mark_keeps_every_value_in_range(a in any::<i32>(), s in any::<i32>(), h in any::<i32>(), level in 0..4usize) {
            let before = rule(a.max(s), s, h, Maturity::ALL[level]);
            for after in [helpful(&before, 400), harmful(&before)] {
                prop_assert!(after.effectiveness >= 0.0 && after.effectiveness.is_finite());
                prop_assert!(after.counts.applied >= 1 && after.counts.success >= 0 && after.counts.harmful >= 0);
                let moved = (Maturity::ALL.iter().position(|m| *m == after.maturity).unwrap()).abs_diff(level);
                prop_assert!(moved <= 1);
                prop_assert_eq!(after.change.is_some(), moved == 1);
            }
        }
    }
}
