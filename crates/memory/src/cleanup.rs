//! Episode cleanup: deletes expired episodes, then the oldest consolidated ones beyond the capacity.

use std::time::Duration;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_store::{JobContext, Session, WriteContext, cleanup};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;

use crate::dry_run::JobStep;
use crate::{Memory, MemoryError};

/// What a cleanup did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanupReport {
    /// Expired episodes.
    pub expired_deleted: u64,
    /// Consolidated episodes beyond the capacity, oldest first.
    pub capacity_deleted: u64,
    /// Episodes left after the cleanup.
    pub remaining: u64,
}

impl Memory {
    /// Cleans up the episodes of one tenant, or of all. Each tenant may keep `max_entries` episodes.
    pub async fn run_episode_cleanup(
        &self,
        tenant: Option<&TenantId>,
        max_entries: u64,
        origin: &Origin,
    ) -> Result<CleanupReport, MemoryError> {
        self.clean_up(tenant, max_entries, origin, false).await
    }

    /// Reports what [`Self::run_episode_cleanup`] would do: runs it and rolls it back.
    pub async fn dry_run_episode_cleanup(
        &self,
        tenant: Option<&TenantId>,
        max_entries: u64,
    ) -> Result<CleanupReport, MemoryError> {
        self.clean_up(tenant, max_entries, &Origin::default(), true).await
    }

    async fn clean_up(
        &self,
        tenant: Option<&TenantId>,
        max_entries: u64,
        origin: &Origin,
        dry_run: bool,
    ) -> Result<CleanupReport, MemoryError> {
        let mut owner = self.db().owner().await?;
        let mut step = JobStep::begin(&mut owner, dry_run).await?;
        let report = self.clean_up_on(step.session(), tenant, max_entries, origin).await?;
        step.end().await?;
        self.db().wrote_all();
        Ok(report)
    }

    async fn clean_up_on(
        &self,
        conn: &mut Session,
        tenant: Option<&TenantId>,
        max_entries: u64,
        origin: &Origin,
    ) -> Result<CleanupReport, MemoryError> {
        let now = self.now();
        let pending_before = now - self.grace();
        let mut report = CleanupReport::default();
        loop {
            let removed = cleanup::expire(JobContext { session: conn, tenant, now, origin }, pending_before).await?;
            report.expired_deleted += removed;
            if removed == 0 {
                break;
            }
        }
        let max = i64::try_from(max_entries).unwrap_or(i64::MAX);
        for (tenant, mut excess) in cleanup::over_capacity(conn, tenant, max).await? {
            while excess > 0 {
                let removed =
                    cleanup::evict(WriteContext { session: conn, tenant: &tenant, now, origin }, excess).await?;
                report.capacity_deleted += removed;
                excess -= i64::try_from(removed).unwrap_or(excess);
                if removed == 0 {
                    break;
                }
            }
        }
        report.remaining = cleanup::remaining(conn, tenant).await?;
        Ok(report)
    }

    /// How long an expired episode is kept while it still waits for consolidation.
    fn grace(&self) -> TimeDelta {
        Duration::try_from_secs_f64(self.config().episodes.pending_grace_days * 86_400.0)
            .ok()
            .and_then(|span| TimeDelta::from_std(span).ok())
            .unwrap_or(TimeDelta::zero())
    }
}
