//! The workers the memory module brings. Configuration says when they run; whether they run is not in question, except
//! by an explicit `enabled = false`.

use std::sync::Arc;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_domain::validate::Invalid;
use butler_store::jobs::RunRow;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::consolidate::{ConsolidationReport, ConsolidationRequest};
use crate::schedule::Schedule;
use crate::{Memory, MemoryConfig, MemoryError};

pub const CONSOLIDATION: &str = "consolidation";
pub const DECAY_SWEEP: &str = "decay_sweep";
pub const EPISODE_CLEANUP: &str = "episode_cleanup";
/// Woken by harmful marks; its schedule only picks up what a process that died left behind.
pub const INVERSION: &str = "inversion";
pub const RETRAIN_INDEXES: &str = "retrain_indexes";
pub const REEMBED: &str = "reembed";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobSpec {
    pub name: &'static str,
    pub about: &'static str,
    pub cron: String,
    pub time_zone: String,
    pub enabled: bool,
}

impl JobSpec {
    pub fn schedule(&self) -> Result<Schedule, String> {
        Schedule::parse(&self.cron, &self.time_zone)
    }
}

/// All jobs, as configured.
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
        job(DECAY_SWEEP, "lets unconfirmed facts and rules fade and expire", &schedule.decay_sweep),
        job(EPISODE_CLEANUP, "removes expired and surplus episodes", &schedule.episode_cleanup),
        job(INVERSION, "turns rules that harm into warnings", &schedule.inversion),
        job(RETRAIN_INDEXES, "fits the vector indexes to the data", &schedule.retrain_indexes),
        job(REEMBED, "embeds again what another model embedded", &schedule.reembed),
    ]
}

/// The record of a run, as far as it concerns a tenant: what a run for all did for the others, and what it says of them
/// in its errors, stays theirs. `None`: whoever looks may see all tenants.
pub fn seen_by(mut run: RunRow, tenant: Option<&TenantId>) -> RunRow {
    let Some(tenant) = tenant.filter(|tenant| run.tenant.as_deref() != Some(tenant.as_str())) else { return run };
    run.result = match run.job.as_str() {
        CONSOLIDATION => ConsolidationReport::of_tenant(run.result, tenant),
        _ => json!({}),
    };
    run.error = run.error.map(|_| "it failed; why is in the server's log".to_owned());
    run
}

/// Done and total, for a progress bar.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

#[derive(Clone, Default)]
pub struct JobRequest {
    /// `None`: all tenants.
    pub tenant: Option<TenantId>,
    pub dry_run: bool,
    pub stop: CancellationToken,
    pub progress: Option<Progress>,
}

impl Memory {
    /// Runs one job now and returns what it did, as an object.
    pub async fn run_job(&self, job: &str, request: &JobRequest) -> Result<Value, MemoryError> {
        let tenant = request.tenant.as_ref();
        if request.dry_run && job != CONSOLIDATION {
            return self.try_job(job, tenant).await;
        }
        let result = self.work(job, tenant, request).await;
        // Workers write past the tenants' own connections; who reads next shall see it, replica or not.
        self.db().wrote_all();
        result
    }

    async fn work(&self, job: &str, tenant: Option<&TenantId>, request: &JobRequest) -> Result<Value, MemoryError> {
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
            INVERSION => Ok(json!({"rules_inverted": self.invert_pending(tenant).await?})),
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
            unknown => Err(self.no_job(unknown)),
        }
    }

    /// What a job would do, counted; nothing is written.
    async fn try_job(&self, job: &str, tenant: Option<&TenantId>) -> Result<Value, MemoryError> {
        let counted = match job {
            DECAY_SWEEP => object(self.sweep_dry(tenant).await?),
            EPISODE_CLEANUP => object(self.episode_cleanup_dry(tenant, self.config().episodes.max_entries).await?),
            INVERSION => Ok(json!({"rules_inverted": self.count_pending_inversions(tenant).await?})),
            REEMBED => object(self.reembed_dry(tenant).await?),
            RETRAIN_INDEXES => Err(Invalid::new("dry_run", format!("{job} cannot be tried without running it"))
                .hint("it may be run at any time without harm")
                .into()),
            unknown => Err(self.no_job(unknown)),
        };
        counted.map(|mut counts| {
            counts["mode"] = json!("dry_run");
            counts
        })
    }

    /// An error that names the jobs there are, if this is none of them.
    pub fn known_job(&self, job: &str) -> Result<(), MemoryError> {
        let known = jobs(self.config()).iter().any(|spec| spec.name == job);
        if known { Ok(()) } else { Err(self.no_job(job)) }
    }

    fn no_job(&self, unknown: &str) -> MemoryError {
        let names: Vec<&str> = jobs(self.config()).iter().map(|job| job.name).collect();
        Invalid::new("job", format!("there is no job {unknown:?}"))
            .hint(format!("valid are {}", names.join(", ")))
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
            "batches": 1, "consolidated": 2, "failed": 0, "dead_lettered": 0, "facts_created": 0, "facts_updated": 0,
            "rules_created": 0, "confirmations": 0, "replayed": 0, "actions_failed": 1, "parse_errors": 0,
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
            finished_at: None,
            result,
            error: Some("bob went wrong".to_owned()),
            tenant: tenant.map(str::to_owned),
        }
    }

    #[test]
    fn a_tenant_sees_of_a_run_for_all_what_it_did_for_that_tenant() {
        let ann = TenantId::new("ann").unwrap();
        let seen = seen_by(run(CONSOLIDATION, None), Some(&ann));
        let told = format!("{} {:?}", seen.result, seen.error);
        assert!(!told.contains("bob"), "{told}");
        assert_eq!(seen.result["errors"], json!(["ann/ann's: new fact ann is"]));
        assert_eq!((&seen.result["totals"]["episodes"], &seen.result["mode"]), (&json!(2), &json!("run")));
        assert_eq!(seen_by(run(DECAY_SWEEP, None), Some(&ann)).result, json!({}));
    }

    #[test]
    fn its_own_runs_and_a_trusted_callers_are_shown_whole() {
        let bob = TenantId::new("bob").unwrap();
        for (tenant, viewer) in [(Some("bob"), Some(&bob)), (None, None), (Some("bob"), None)] {
            assert_eq!(seen_by(run(CONSOLIDATION, tenant), viewer), run(CONSOLIDATION, tenant));
        }
    }
}
