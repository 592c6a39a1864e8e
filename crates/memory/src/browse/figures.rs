use butler_domain::{Scope, TenantId, Timestamp};
use butler_store::browse::figures;
use butler_store::jobs;

use super::{BacklogDay, Browse, Confidence, Effectiveness, Produced, RunRow, Stats};
use crate::MemoryError;
use crate::jobs::{CONSOLIDATION, visible_to};

/// The figures of one butler for the overview.
#[derive(Debug, Clone)]
pub struct Figures {
    pub stats: Stats,
    pub confidence: Confidence,
    pub retrieval_threshold: f64,
    pub expiry_threshold: f64,
    pub effectiveness: Effectiveness,
    pub produced: Produced,
    pub backlog: Vec<BacklogDay>,
    pub entities: i64,
    /// The next scheduled consolidation.
    pub next_run_at: Option<Timestamp>,
    /// The last consolidation.
    pub last_run: Option<RunRow>,
    /// Whether an LLM is configured.
    pub runtime: bool,
    /// Whether so many episodes wait to be learned from that the oldest will soon expire (`episodes.max_unlearned`).
    pub many_unlearned: bool,
    /// Why jobs that delete or expire memories wait.
    pub clock_doubt: Option<String>,
}

impl Browse<'_> {
    /// The figures of the tenant, for all scopes or for one. With `restricted_to`, the last run does not show what it did
    /// for other tenants.
    pub async fn figures(
        &self,
        scope: Option<&Scope>,
        restricted_to: Option<&TenantId>,
    ) -> Result<Figures, MemoryError> {
        let (tenant, now, config) = (self.tenant, self.now, &self.memory.config().confidence);
        let mut session = self.memory.db().reader(tenant).await?;
        let stats = butler_store::stats::read(&mut session, tenant, scope, now).await?;
        let waiting = stats.episodes.unconsolidated + stats.episodes.failed;
        let unlearned = (waiting + stats.episodes.dead_letter).unsigned_abs();
        let confidence = figures::confidence(&mut session, tenant, scope, config.expiry_threshold, now).await?;
        let effectiveness = figures::effectiveness(&mut session, tenant, scope).await?;
        let produced = figures::produced(&mut session, tenant).await?;
        let backlog = figures::backlog(&mut session, tenant, waiting, now).await?;
        let entities = figures::entities(&mut session, tenant).await?;
        drop(session);
        let mut owner = self.memory.db().owner().await?;
        let schedule = jobs::schedule(&mut owner, CONSOLIDATION).await?;
        let run = jobs::runs(&mut owner, Some(CONSOLIDATION), restricted_to, 1).await?.pop();
        Ok(Figures {
            stats,
            confidence,
            retrieval_threshold: config.retrieval_threshold,
            expiry_threshold: config.expiry_threshold,
            effectiveness,
            produced,
            backlog,
            entities,
            next_run_at: schedule.and_then(|row| row.next_run_at),
            last_run: run.map(|run| visible_to(run, restricted_to)),
            runtime: self.memory.runtime().is_some(),
            many_unlearned: unlearned >= self.memory.config().episodes.many_unlearned(),
            clock_doubt: self.memory.clock_doubt(),
        })
    }
}
