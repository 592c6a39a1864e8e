//! The report of a consolidation run.

use butler_domain::TenantId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The maximum number of errors listed per group. A broken endpoint would otherwise fill the record of the run.
const LISTED_ERRORS: usize = 20;

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidationReport {
    /// `run`, or `dry_run` if episodes were only counted.
    pub mode: String,
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
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Episodes that were due when the run began.
    pub episodes: u64,
    /// Failed episodes whose next attempt is later.
    pub waiting: u64,
    pub batches: u64,
    pub consolidated: u64,
    pub failed: u64,
    pub dead_lettered: u64,
    pub facts_created: u64,
    pub facts_updated: u64,
    pub rules_created: u64,
    /// Memories that the episodes confirmed, including those that the model repeated word for word.
    pub confirmations: u64,
    /// Actions that had been applied before.
    pub replayed: u64,
    pub actions_failed: u64,
    pub parse_errors: u64,
    /// As the runtime reports them, otherwise estimated.
    pub tokens_in: u64,
    pub tokens_out: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        let Self {
            episodes,
            waiting,
            batches,
            consolidated,
            failed,
            dead_lettered,
            facts_created,
            facts_updated,
            rules_created,
            confirmations,
            replayed,
            actions_failed,
            parse_errors,
            tokens_in,
            tokens_out,
        } = other;
        self.episodes += episodes;
        self.waiting += waiting;
        self.batches += batches;
        self.consolidated += consolidated;
        self.failed += failed;
        self.dead_lettered += dead_lettered;
        self.facts_created += facts_created;
        self.facts_updated += facts_updated;
        self.rules_created += rules_created;
        self.confirmations += confirmations;
        self.replayed += replayed;
        self.actions_failed += actions_failed;
        self.parse_errors += parse_errors;
        self.tokens_in += tokens_in;
        self.tokens_out += tokens_out;
    }
}

impl GroupReport {
    pub(super) fn problem(&mut self, problem: String) {
        match self.errors.len() {
            n if n < LISTED_ERRORS => self.errors.push(problem),
            n if n == LISTED_ERRORS => self.errors.push("… and more; the log has them all".to_owned()),
            _ => {}
        }
    }
}

impl ConsolidationReport {
    /// The part of a recorded report that concerns one tenant; an empty object if the record cannot be read.
    pub fn of_tenant(recorded: Value, tenant: &TenantId) -> Value {
        let Ok(mut report) = serde_json::from_value::<Self>(recorded) else { return json!({}) };
        report.groups.retain(|group| group.tenant_id == tenant.as_str());
        (report.totals, report.errors) = Default::default();
        serde_json::to_value(report.finish()).unwrap_or_else(|_| json!({}))
    }

    /// Computes the totals and collects the errors of the groups.
    pub(super) fn finish(mut self) -> Self {
        for group in &self.groups {
            self.totals.add(&group.counts);
            let prefix = format!("{}/{}", group.tenant_id, group.butler);
            self.errors.extend(group.errors.iter().map(|error| format!("{prefix}: {error}")));
        }
        self
    }
}
