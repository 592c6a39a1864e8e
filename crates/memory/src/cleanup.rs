//! Episode cleanup: extends the expiry of episodes that were not consolidated, deletes expired episodes, then the
//! oldest consolidated ones beyond the capacity.

use butler_domain::event::Origin;
use butler_domain::{TenantId, Timestamp};
use butler_store::cleanup::Unlearned;
use butler_store::{JobContext, Session, WriteContext, cleanup};
use schemars::JsonSchema;
use serde::Serialize;

use crate::dry_run::JobStep;
use crate::isolation::{TenantOutcomes, caught};
use crate::remember::after_days;
use crate::{Memory, MemoryError};

/// What a cleanup did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanupReport {
    /// Expired episodes.
    pub expired_deleted: u64,
    /// Consolidated episodes beyond the capacity, oldest first.
    pub capacity_deleted: u64,
    /// Episodes left after the cleanup.
    pub remaining: u64,
    /// The tenants whose episodes could not be cleaned up, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub errors: Vec<String>,
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
        let now = if dry_run { self.now() } else { self.trusted_now().await? };
        let report = match caught(self.clean_up_at(now, tenant, max_entries, origin, dry_run)).await {
            // Bad data of one tenant makes the batch of all tenants fail.
            Err(error) if tenant.is_none() && !error.is_unavailable() => {
                let (mut report, mut outcomes) = (CleanupReport::default(), TenantOutcomes::default());
                for tenant in self.tenants().await? {
                    let cleaned = caught(self.clean_up_at(now, Some(&tenant), max_entries, origin, dry_run)).await;
                    if let Ok(cleaned) = &cleaned {
                        report.expired_deleted += cleaned.expired_deleted;
                        report.capacity_deleted += cleaned.capacity_deleted;
                        report.remaining += cleaned.remaining;
                    }
                    outcomes.note(&tenant, cleaned)?;
                }
                report.errors = outcomes.finish()?;
                report
            }
            outcome => outcome?,
        };
        self.db().wrote_all();
        Ok(report)
    }

    async fn clean_up_at(
        &self,
        now: Timestamp,
        tenant: Option<&TenantId>,
        max_entries: u64,
        origin: &Origin,
        dry_run: bool,
    ) -> Result<CleanupReport, MemoryError> {
        let mut owner = self.db().owner().await?;
        let mut step = JobStep::begin(&mut owner, dry_run).await?;
        let job = JobContext { session: step.session(), tenant, now, origin };
        let report = self.clean_up_on(job, max_entries).await?;
        step.end().await?;
        Ok(report)
    }

    async fn clean_up_on(&self, job: JobContext<'_>, max_entries: u64) -> Result<CleanupReport, MemoryError> {
        let JobContext { session: conn, tenant, now, origin } = job;
        let mut report = CleanupReport::default();
        let unlearned = self.unlearned(now);
        while cleanup::keep_unlearned(JobContext { session: conn, tenant, now, origin }, unlearned).await? > 0 {}
        loop {
            let removed = cleanup::expire(JobContext { session: conn, tenant, now, origin }, unlearned.max).await?;
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
        self.warn_of_many_unlearned(conn, tenant).await?;
        Ok(report)
    }

    /// How many unconsolidated episodes a tenant may keep, and the new expiry of those.
    fn unlearned(&self, now: Timestamp) -> Unlearned {
        let episodes = &self.config().episodes;
        let max = i64::try_from(episodes.max_unlearned).unwrap_or(i64::MAX);
        Unlearned { max, until: after_days(now, episodes.default_ttl_days) }
    }

    /// Logs a warning well before the oldest unconsolidated episodes expire.
    async fn warn_of_many_unlearned(&self, conn: &mut Session, tenant: Option<&TenantId>) -> Result<(), MemoryError> {
        for (tenant, unlearned) in self.many_unlearned(conn, tenant).await? {
            let max = self.config().episodes.max_unlearned;
            tracing::warn!(
                tenant,
                unlearned,
                max,
                "many episodes wait to be learned from; beyond [modules.memory.episodes] max_unlearned the oldest \
                 expire: configure an LLM in [butler.runtime], requeue dead letters, or raise max_unlearned"
            );
        }
        Ok(())
    }

    /// The tenants whose unconsolidated episodes approach `max_unlearned`, each with its number.
    pub async fn many_unlearned(
        &self,
        conn: &mut Session,
        tenant: Option<&TenantId>,
    ) -> Result<Vec<(String, i64)>, MemoryError> {
        let least = i64::try_from(self.config().episodes.many_unlearned()).unwrap_or(i64::MAX);
        Ok(cleanup::most_unlearned(conn, tenant, least).await?)
    }
}
