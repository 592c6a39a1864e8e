//! The background jobs of the memory module. They run on the configured schedules, unless `enabled = false`.

use std::sync::Arc;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_domain::validate::Invalid;
use butler_store::jobs::RunRow;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::consolidate::{ConsolidationReport, ConsolidationRequest};
use crate::schedule::Schedule;
use crate::{Memory, MemoryConfig, MemoryError};

/// Has the LLM turn episodes into facts and rules.
pub const CONSOLIDATION: &str = "consolidation";
/// Marks facts and rules as fading, and ends those whose confidence has decayed.
pub const DECAY_SWEEP: &str = "decay_sweep";
/// Deletes episodes that expired or exceed the configured number.
pub const EPISODE_CLEANUP: &str = "episode_cleanup";
/// Finds facts that contradict or repeat each other, where storing them found nothing.
pub const CONFLICTS: &str = "conflicts";
/// Started by harmful marks. Its schedule only finds the rules that a crashed process left behind.
pub const INVERSION: &str = "inversion";
/// Rebuilds vector indexes that the data has outgrown, while reads and writes continue.
pub const RETRAIN_INDEXES: &str = "retrain_indexes";
/// Embeds memories whose vector is missing or of another model.
pub const REEMBED: &str = "reembed";

/// A job and its schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobSpec {
    pub name: &'static str,
    pub about: &'static str,
    pub cron: String,
    pub time_zone: String,
    pub enabled: bool,
}

impl JobSpec {
    /// Parses the configured schedule.
    pub fn schedule(&self) -> Result<Schedule, String> {
        Schedule::parse(&self.cron, &self.time_zone)
    }
}

/// All jobs with their configured schedules.
pub fn jobs(config: &MemoryConfig) -> Vec<JobSpec> {
    let schedule = &config.schedule;
    let job = |name, about, cron: &str| JobSpec {
        name,
        about,
        cron: cron.to_owned(),
        time_zone: schedule.time_zone.clone(),
        enabled: config.enabled && schedule.enabled,
    };
    vec![
        job(CONSOLIDATION, "turns episodes into facts and rules", &schedule.consolidation),
        job(DECAY_SWEEP, "marks decayed facts and rules as fading and expires them", &schedule.decay_sweep),
        job(EPISODE_CLEANUP, "removes expired and surplus episodes", &schedule.episode_cleanup),
        job(CONFLICTS, "finds facts that contradict or repeat each other", &schedule.conflicts),
        job(INVERSION, "turns harmful rules into anti-patterns", &schedule.inversion),
        job(RETRAIN_INDEXES, "retrains vector indexes that the data has outgrown", &schedule.retrain_indexes),
        job(REEMBED, "embeds memories again after a change of the model", &schedule.reembed),
    ]
}

/// Removes from the record of a run what concerns other tenants, including their errors. `None` stands for a viewer who
/// may see all tenants.
pub fn visible_to(mut run: RunRow, tenant: Option<&TenantId>) -> RunRow {
    let Some(tenant) = tenant.filter(|tenant| run.tenant.as_deref() != Some(tenant.as_str())) else { return run };
    let hidden = || "the job failed; see the server's log for the reason".to_owned();
    match ConsolidationReport::of_tenant(run.result, tenant).filter(|_| run.job == CONSOLIDATION) {
        // The run may have failed for this tenant alone, or for all others.
        Some(report) => {
            if run.finished_at.is_some() {
                (run.status, run.error) = (report.status.clone(), report.error.clone());
            }
            run.result = serde_json::to_value(report).unwrap_or_else(|_| json!({}));
        }
        None => {
            run.result = json!({});
            run.error = run.error.map(|_| hidden());
        }
    }
    run
}

/// A callback for a progress bar with the number of items done and the total.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How to run a job.
#[derive(Clone, Default)]
pub struct JobRequest {
    /// `None` means all tenants.
    pub tenant: Option<TenantId>,
    /// Report what the job would do, and write nothing.
    pub dry_run: bool,
    /// Cancelling it ends the job early. Only jobs that wait for the LLM react to it.
    pub stop: CancellationToken,
    pub progress: Option<Progress>,
}

impl Memory {
    /// Runs one job now and returns its report as a JSON object.
    pub async fn run_job(&self, job: &str, request: &JobRequest) -> Result<Value, MemoryError> {
        let tenant = request.tenant.as_ref();
        if request.dry_run && job != CONSOLIDATION {
            return self.dry_run_job(job, tenant).await;
        }
        let result = self.execute_job(job, tenant, request).await;
        // Jobs do not write through the tenants' connections, so replica reads must be told about the writes.
        self.db().wrote_all();
        result
    }

    /// Boxed, so that the crates that run jobs do not compile them again.
    fn execute_job<'a>(
        &'a self,
        job: &'a str,
        tenant: Option<&'a TenantId>,
        request: &'a JobRequest,
    ) -> BoxFuture<'a, Result<Value, MemoryError>> {
        Box::pin(async move {
            match job {
                CONSOLIDATION => {
                    let request = ConsolidationRequest {
                        tenant: request.tenant.clone(),
                        dry_run: request.dry_run,
                        request_id: None,
                        stop: request.stop.clone(),
                    };
                    object(self.run_consolidation(&request).await?)
                }
                DECAY_SWEEP => object(self.sweep(tenant).await?),
                EPISODE_CLEANUP => {
                    let origin = Origin { actor: Some(EPISODE_CLEANUP.to_owned()), request_id: None };
                    object(self.run_episode_cleanup(tenant, self.config().episodes.max_entries, &origin).await?)
                }
                CONFLICTS => {
                    let mut report = self.find_conflicts(tenant).await?;
                    self.judge_conflicts(tenant, &request.stop, &mut report).await?;
                    object(report)
                }
                INVERSION => object(self.invert_pending(tenant).await?),
                RETRAIN_INDEXES => {
                    let trained = self.retrain_indexes().await?;
                    Ok(json!({"retrained": trained.len()}))
                }
                REEMBED => {
                    let progress = request.progress.clone();
                    let report = |at: crate::ReembedProgress| {
                        if let Some(progress) = &progress {
                            progress(at.done, at.total);
                        }
                    };
                    object(self.reembed(tenant, &report).await?)
                }
                unknown => Err(self.unknown_job(unknown)),
            }
        })
    }

    /// Reports what a job would do. Nothing is written.
    async fn dry_run_job(&self, job: &str, tenant: Option<&TenantId>) -> Result<Value, MemoryError> {
        let report = match job {
            DECAY_SWEEP => object(self.dry_run_sweep(tenant).await?),
            EPISODE_CLEANUP => object(self.dry_run_episode_cleanup(tenant, self.config().episodes.max_entries).await?),
            INVERSION => Ok(json!({"rules_inverted": self.count_pending_inversions(tenant).await?})),
            REEMBED => object(self.dry_run_reembed(tenant).await?),
            RETRAIN_INDEXES | CONFLICTS => Err(Invalid::new("dry_run", format!("{job} has no dry run"))
                .hint("run it without dry_run; it is safe at any time")
                .into()),
            unknown => Err(self.unknown_job(unknown)),
        };
        report.map(|mut counts| {
            counts["mode"] = json!("dry_run");
            counts
        })
    }

    /// Fails if there is no such job. The error lists the valid names.
    pub fn check_job_exists(&self, job: &str) -> Result<(), MemoryError> {
        let exists = jobs(self.config()).iter().any(|spec| spec.name == job);
        if exists { Ok(()) } else { Err(self.unknown_job(job)) }
    }

    fn unknown_job(&self, job: &str) -> MemoryError {
        let names: Vec<&str> = jobs(self.config()).iter().map(|job| job.name).collect();
        Invalid::new("job", format!("there is no job {job:?}"))
            .hint(format!("valid values: {}", names.join(", ")))
            .into()
    }
}

fn object(report: impl Serialize) -> Result<Value, MemoryError> {
    serde_json::to_value(report).map_err(|error| Invalid::new("report", error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(job: &str, tenant: Option<&str>) -> RunRow {
        let group = |tenant: &str| {
            json!({"tenant_id": tenant, "butler": format!("{tenant}'s"), "episodes": 2, "waiting": 0,
            "batches": 1, "consolidated": 2, "failed": 0, "dead_lettered": 0, "actions": 1, "facts_created": 0,
            "facts_superseded": 0, "rules_created": 0, "confirmations": 0, "suppressed": 0, "refused": 1, "parse_errors": 0,
            "tokens_in": 5, "tokens_out": 5, "errors": [format!("new fact {tenant} is")]})
        };
        let result = json!({"mode": "run", "groups": [group("ann"), group("bob")], "totals": group("bob"),
            "errors": ["ann/ann's: new fact ann is", "bob/bob's: new fact bob is"]});
        RunRow {
            id: uuid::Uuid::nil(),
            job: job.to_owned(),
            trigger: "schedule".to_owned(),
            status: "failed".to_owned(),
            worker: None,
            started_at: butler_domain::Timestamp::UNIX_EPOCH,
            finished_at: Some(butler_domain::Timestamp::UNIX_EPOCH),
            result,
            error: Some("bob went wrong".to_owned()),
            tenant: tenant.map(str::to_owned),
        }
    }

    #[test]
    fn a_tenant_sees_only_its_own_part_of_a_run_for_all_tenants() {
        let ann = TenantId::new("ann").unwrap();
        let visible = visible_to(run(CONSOLIDATION, None), Some(&ann));
        let text = format!("{} {:?}", visible.result, visible.error);
        assert!(!text.contains("bob"), "{text}");
        assert_eq!(visible.result["errors"], json!(["ann/ann's: new fact ann is"]));
        assert_eq!((&visible.result["totals"]["episodes"], &visible.result["mode"]), (&json!(2), &json!("run")));
        assert_eq!(visible_to(run(DECAY_SWEEP, None), Some(&ann)).result, json!({}));
    }

    #[test]
    fn a_tenant_whose_groups_all_failed_sees_a_failed_run_and_the_others_do_not() {
        let mut all = run(CONSOLIDATION, None);
        (all.status, all.error) = ("succeeded".to_owned(), None);
        all.result["groups"][0]["consolidated"] = json!(0);
        all.result["groups"][0]["failure"] = json!("the endpoint refused");
        let seen_by = |tenant: &str| visible_to(all.clone(), Some(&TenantId::new(tenant).unwrap()));
        let ann = seen_by("ann");
        assert_eq!((ann.status.as_str(), ann.error.as_deref()), ("failed", Some("ann/ann's: the endpoint refused")));
        assert_eq!((seen_by("bob").status.as_str(), seen_by("bob").error), ("succeeded", None));
        assert_eq!(seen_by("cid").status, "succeeded");
    }

    #[test]
    fn a_tenants_own_runs_and_those_of_a_trusted_caller_are_shown_in_full() {
        let bob = TenantId::new("bob").unwrap();
        for (tenant, viewer) in [(Some("bob"), Some(&bob)), (None, None), (Some("bob"), None)] {
            assert_eq!(visible_to(run(CONSOLIDATION, tenant), viewer), run(CONSOLIDATION, tenant));
        }
    }
}
