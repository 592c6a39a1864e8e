//! Keeping the episodes few: expired ones go, then the oldest consolidated ones beyond the capacity.

use std::time::Duration;

use butler_domain::TenantId;
use butler_domain::event::Origin;
use butler_store::{JobContext, Session, WriteContext, cleanup};
use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;

use crate::dry::Step;
use crate::{Memory, MemoryError};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanupReport {
    /// Episodes whose time was over.
    pub expired_deleted: u64,
    /// Consolidated episodes beyond the capacity, oldest first.
    pub capacity_deleted: u64,
    /// Episodes that are left.
    pub remaining: u64,
}

impl Memory {
    /// Of one tenant, or of all. `max_entries` is what one tenant may keep.
    pub async fn run_episode_cleanup(
        &self,
        tenant: Option<&TenantId>,
        max_entries: u64,
        origin: &Origin,
    ) -> Result<CleanupReport, MemoryError> {
        self.clean_up(tenant, max_entries, origin, false).await
    }

    /// What [`Self::run_episode_cleanup`] would do now: it is done and taken back.
    pub async fn episode_cleanup_dry(
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
        dry: bool,
    ) -> Result<CleanupReport, MemoryError> {
        let mut owner = self.db().owner().await?;
        let mut step = Step::new(&mut owner, dry).await?;
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

    /// How long an expired episode that nobody learned from is kept.
    fn grace(&self) -> TimeDelta {
        Duration::try_from_secs_f64(self.config().episodes.pending_grace_days * 86_400.0)
            .ok()
            .and_then(|span| TimeDelta::from_std(span).ok())
            .unwrap_or(TimeDelta::zero())
    }
}
