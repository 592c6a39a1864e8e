//! The report of a consolidation run.

use butler_domain::TenantId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::suppressed::{SuppressedBy, is_zero};

/// The maximum number of errors listed per group. A broken endpoint would otherwise fill the record of the run.
const LISTED_ERRORS: usize = 20;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidationReport {
    /// `run`, or `dry_run` if episodes were only counted.
    pub mode: String,
    /// `failed` if no group with waiting episodes could be consolidated, otherwise `succeeded`.
    #[serde(default)]
    pub status: String,
    /// Why the run failed: the reason of the first group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it was a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In the order in which they were processed.
    pub groups: Vec<GroupReport>,
    /// The sum over all groups.
    pub totals: Counts,
    pub errors: Vec<String>,
}

/// What a run did for the episodes of one tenant and butler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReport {
    pub tenant_id: String,
    pub butler: String,
    #[serde(flatten)]
    pub counts: Counts,
    pub errors: Vec<String>,
    /// Why the first batch that failed was not consolidated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What became of the episodes and of the model's actions. `actions` is the sum of `entities_created`, `facts_created`, `facts_superseded`,
/// `rules_created`, `proposed`, `confirmations`, `suppressed` and `refused`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Counts {
    /// Episodes that were due when the run began.
    pub episodes: u64,
    /// Failed episodes whose next attempt is later.
    pub waiting: u64,
    pub batches: u64,
    pub consolidated: u64,
    pub failed: u64,
    pub dead_lettered: u64,
    /// The valid actions of the answers that were applied.
    pub actions: u64,
    pub entities_created: u64,
    /// New facts that replaced none.
    pub facts_created: u64,
    /// Facts that a newer version replaced.
    pub facts_superseded: u64,
    pub rules_created: u64,
    /// Facts and rules that wait for a person's approval.
    pub proposed: u64,
    /// Memories that the episodes confirmed, including those that the model repeated word for word.
    pub confirmations: u64,
    /// Actions that were left out. `suppressed_by` says why.
    pub suppressed: u64,
    /// Its numbers add up to `suppressed`.
    pub suppressed_by: SuppressedBy,
    /// Actions that could not be applied. `errors` has the reasons.
    pub refused: u64,
    pub parse_errors: u64,
    /// Secrets that were redacted in the actions. Left out if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: u64,
    /// As the runtime reports them, otherwise estimated.
    pub tokens_in: u64,
    pub tokens_out: u64,
}

impl Counts {
    /// Adds the counts of another batch or tenant.
    pub fn add(&mut self, other: &Self) {
        let Self {
            episodes,
            waiting,
            batches,
            consolidated,
            failed,
            dead_lettered,
            actions,
            entities_created,
            facts_created,
            facts_superseded,
            rules_created,
            proposed,
            confirmations,
            suppressed,
            suppressed_by,
            refused,
            parse_errors,
            redacted,
            tokens_in,
            tokens_out,
        } = other;
        self.episodes += episodes;
        self.waiting += waiting;
        self.batches += batches;
        self.consolidated += consolidated;
        self.failed += failed;
        self.dead_lettered += dead_lettered;
        self.actions += actions;
        self.entities_created += entities_created;
        self.facts_created += facts_created;
        self.facts_superseded += facts_superseded;
        self.rules_created += rules_created;
        self.proposed += proposed;
        self.confirmations += confirmations;
        self.suppressed += suppressed;
        self.suppressed_by.add(suppressed_by);
        self.refused += refused;
        self.parse_errors += parse_errors;
        self.redacted += redacted;
        self.tokens_in += tokens_in;
        self.tokens_out += tokens_out;
    }
}

impl GroupReport {
    /// Records why a batch, or the whole group, was not consolidated.
    pub(super) fn fail(&mut self, reason: String) {
        self.failure.get_or_insert_with(|| reason.clone());
        self.problem(reason);
    }

    fn label(&self) -> String {
        format!("{}/{}", self.tenant_id, self.butler)
    }

    pub(super) fn problem(&mut self, problem: String) {
        match self.errors.len() {
            n if n < LISTED_ERRORS => self.errors.push(problem),
            n if n == LISTED_ERRORS => self.errors.push("… and more; the log has them all".to_owned()),
            _ => {}
        }
    }
}

impl ConsolidationReport {
    /// The part of a recorded report that concerns one tenant; `None` if the record is not a report.
    pub fn of_tenant(recorded: Value, tenant: &TenantId) -> Option<Self> {
        let mut report = serde_json::from_value::<Self>(recorded).ok()?;
        report.groups.retain(|group| group.tenant_id == tenant.as_str());
        (report.totals, report.errors, report.error) = Default::default();
        Some(report.finish())
    }

    /// Computes the totals and the status, and collects the errors of the groups.
    pub(super) fn finish(mut self) -> Self {
        for group in &self.groups {
            self.totals.add(&group.counts);
            self.errors.extend(group.errors.iter().map(|error| format!("{}: {error}", group.label())));
        }
        let due = self.groups.iter().filter(|group| group.counts.episodes > 0);
        let mut reasons = due.map(|group| {
            let reason = group.failure.as_ref().filter(|_| group.counts.consolidated == 0)?;
            Some(format!("{}: {reason}", group.label()))
        });
        self.error = reasons.next().flatten().filter(|_| reasons.all(|reason| reason.is_some()));
        self.status = if self.error.is_some() { "failed" } else { "succeeded" }.to_owned();
        self
    }
}
