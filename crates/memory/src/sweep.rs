//! The decay sweep: marks facts and rules as fading or recovered, and expires those whose confidence has decayed.

use butler_domain::decay::DecayThresholds;
use butler_domain::event::Origin;
use butler_domain::{TenantId, Timestamp};
use butler_store::JobContext;
use butler_store::sweep::{self, BATCH_ROWS, Batch};
use chrono::TimeDelta;
use serde::Serialize;

use crate::dry_run::JobStep;
use crate::isolation::{TenantOutcomes, caught};
use crate::{Memory, MemoryError};

/// How long idempotency keys are kept. Retries come within seconds or, at the latest, after a weekend.
const IDEMPOTENCY_DAYS: i64 = 30;

/// How many keys whose current value has ended are updated in one transaction, which locks all of them.
const SETTLED_AT_ONCE: i64 = 100;

/// The number of changes that a sweep made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SweepReport {
    pub facts_fading: u64,
    pub facts_recovered: u64,
    pub facts_expired: u64,
    pub rules_fading: u64,
    pub rules_recovered: u64,
    pub rules_forgotten: u64,
    /// Rules that were flagged for inversion but not inverted yet.
    pub rules_inverted: u64,
    /// Stored answers for idempotency keys older than 30 days.
    pub idempotency_keys_removed: u64,
    /// Records of what was served, older than `injections_retention_days`.
    pub injections_removed: u64,
    /// The tenants whose memories could not be swept, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl Memory {
    /// Applies all due transitions of one tenant, or of all, in bounded batches. It is idempotent.
    pub async fn sweep(&self, tenant: Option<&TenantId>) -> Result<SweepReport, MemoryError> {
        self.sweep_or_count(tenant, false).await
    }

    /// Reports what [`Self::sweep`] would do: runs each batch and rolls it back.
    pub async fn dry_run_sweep(&self, tenant: Option<&TenantId>) -> Result<SweepReport, MemoryError> {
        self.sweep_or_count(tenant, true).await
    }

    async fn sweep_or_count(&self, tenant: Option<&TenantId>, dry_run: bool) -> Result<SweepReport, MemoryError> {
        let now = if dry_run { self.now() } else { self.trusted_now().await? };
        let mut report = SweepReport::default();
        match caught(self.sweep_memories(tenant, now, dry_run, &mut report)).await {
            // Bad data of one tenant makes the batch of all tenants fail.
            Err(error) if tenant.is_none() && !error.is_unavailable() => {
                if dry_run {
                    report = SweepReport::default();
                }
                let mut outcomes = TenantOutcomes::default();
                for tenant in self.tenants().await? {
                    let swept = caught(self.sweep_memories(Some(&tenant), now, dry_run, &mut report)).await;
                    outcomes.note(&tenant, swept)?;
                }
                report.errors = outcomes.finish()?;
            }
            outcome => outcome?,
        }
        let mut conn = self.db().owner().await?;
        let mut step = JobStep::begin(&mut conn, dry_run).await?;
        report.idempotency_keys_removed =
            butler_store::idempotency::prune(step.session(), now - TimeDelta::days(IDEMPOTENCY_DAYS)).await?;
        step.end().await?;
        let kept_since = now - TimeDelta::days(i64::from(self.config().injections_retention_days));
        loop {
            let mut step = JobStep::begin(&mut conn, dry_run).await?;
            let removed = butler_store::injections::prune(step.session(), kept_since).await?;
            step.end().await?;
            report.injections_removed += removed;
            if dry_run || removed == 0 {
                break;
            }
        }
        drop(conn);
        if dry_run {
            report.rules_inverted = self.count_pending_inversions(tenant).await?;
        } else {
            let inversion = self.invert_pending(tenant).await?;
            report.rules_inverted = inversion.rules_inverted;
            report.errors.extend(inversion.errors);
        }
        Ok(report)
    }

    async fn sweep_memories(
        &self,
        tenant: Option<&TenantId>,
        now: Timestamp,
        dry_run: bool,
        report: &mut SweepReport,
    ) -> Result<(), MemoryError> {
        let origin = Origin { actor: Some("decay_sweep".to_owned()), request_id: None };
        let confidence = &self.config().confidence;
        let thresholds =
            DecayThresholds { retrieval: confidence.retrieval_threshold, expiry: confidence.expiry_threshold };
        let mut conn = self.db().owner().await?;
        let mut batch = Batch { after: None, rows: BATCH_ROWS };
        loop {
            let mut step = JobStep::begin(&mut conn, dry_run).await?;
            let job = JobContext { session: step.session(), tenant, now, origin: &origin };
            let settled = sweep::settle(job, SETTLED_AT_ONCE).await?;
            step.end().await?;
            if dry_run || settled < SETTLED_AT_ONCE.unsigned_abs() {
                break;
            }
        }
        loop {
            let mut step = JobStep::begin(&mut conn, dry_run).await?;
            let job = JobContext { session: step.session(), tenant, now, origin: &origin };
            report.facts_recovered += sweep::recover_facts(job, batch, thresholds).await?;
            let job = JobContext { session: step.session(), tenant, now, origin: &origin };
            let swept = sweep::facts(job, batch, thresholds).await?;
            step.end().await?;
            report.facts_expired += swept.ended;
            report.facts_fading += swept.fading;
            report.facts_recovered += swept.recovered;
            batch.after = swept.next;
            if batch.after.is_none() {
                break;
            }
        }
        loop {
            let mut step = JobStep::begin(&mut conn, dry_run).await?;
            let job = JobContext { session: step.session(), tenant, now, origin: &origin };
            report.rules_recovered += sweep::recover_rules(job, batch, thresholds).await?;
            let job = JobContext { session: step.session(), tenant, now, origin: &origin };
            let swept = sweep::rules(job, batch, thresholds).await?;
            step.end().await?;
            report.rules_forgotten += swept.ended;
            report.rules_fading += swept.fading;
            report.rules_recovered += swept.recovered;
            batch.after = swept.next;
            if batch.after.is_none() {
                return Ok(());
            }
        }
    }
}
