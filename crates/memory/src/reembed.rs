//! Embeds memories again after a change of the embedding model.

use butler_domain::event::Origin;
use butler_domain::{MemoryType, TenantId};
use butler_store::reembed::{VersionCount, renew, stale, tenants, version_id, versions};
use butler_store::{Session, WriteContext};
use serde::Serialize;
use uuid::Uuid;

use crate::isolation::{TenantOutcomes, caught};
use crate::{Memory, MemoryError};

/// Large enough for the engine to fill its batches, and small enough that a killed job loses at most a second of work.
const BATCH: i64 = 64;

/// How many memories of each type were embedded again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReembedReport {
    pub episodes: u64,
    pub facts: u64,
    pub rules: u64,
    /// The tenants whose memories could not be embedded again, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

/// The progress of the job in memories, over all its tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReembedProgress {
    pub done: u64,
    pub total: u64,
}

impl Memory {
    /// Embeds all memories of one tenant, or of all, whose vector is missing or comes from another model version. A job
    /// that was killed continues where it stopped. Searches never compare vectors of different versions; until a memory
    /// is embedded again, only its words match.
    pub async fn reembed(
        &self,
        tenant: Option<&TenantId>,
        progress: &(dyn Fn(ReembedProgress) + Send + Sync),
    ) -> Result<ReembedReport, MemoryError> {
        let mut conn = self.db().owner().await?;
        let tenants = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => tenants(&mut conn).await?,
        };
        let mut work = Vec::new();
        let mut state = ReembedProgress { done: 0, total: 0 };
        for tenant in tenants {
            let version = version_id(&mut conn, &tenant, &self.model(), self.now()).await?;
            let old = versions(&mut conn, &tenant).await?.into_iter().filter(|count| count.id != Some(version));
            let left: i64 = old.map(|count| count.episodes + count.facts + count.rules).sum();
            state.total += left.unsigned_abs();
            work.push((tenant, version));
        }
        progress(state);
        drop(conn);
        let (mut report, mut outcomes) = (ReembedReport::default(), TenantOutcomes::default());
        for (tenant, version) in work {
            let renewed = caught(self.reembed_tenant(&tenant, version, &mut report, &mut state, progress)).await;
            outcomes.note(&tenant, renewed)?;
        }
        report.errors = outcomes.finish()?;
        Ok(report)
    }

    async fn reembed_tenant(
        &self,
        tenant: &TenantId,
        version: Uuid,
        report: &mut ReembedReport,
        state: &mut ReembedProgress,
        progress: &(dyn Fn(ReembedProgress) + Send + Sync),
    ) -> Result<(), MemoryError> {
        let mut conn = self.db().owner().await?;
        for memory_type in [MemoryType::Fact, MemoryType::Rule, MemoryType::Episode] {
            let renewed = self.reembed_type(&mut conn, tenant, memory_type, version, state, progress).await?;
            match memory_type {
                MemoryType::Fact => report.facts += renewed,
                MemoryType::Rule => report.rules += renewed,
                MemoryType::Episode => report.episodes += renewed,
            }
        }
        Ok(())
    }

    /// Counts what [`Self::reembed`] would embed again.
    pub async fn dry_run_reembed(&self, tenant: Option<&TenantId>) -> Result<ReembedReport, MemoryError> {
        let mut conn = self.db().owner().await?;
        let tenants = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => tenants(&mut conn).await?,
        };
        let model = self.model();
        let mut report = ReembedReport::default();
        for tenant in tenants {
            let current = |count: &VersionCount| {
                count.model.as_deref() == Some(&model.name[..]) && count.version.as_deref() == Some(&model.version[..])
            };
            for old in versions(&mut conn, &tenant).await?.iter().filter(|count| !current(count)) {
                report.episodes += old.episodes.unsigned_abs();
                report.facts += old.facts.unsigned_abs();
                report.rules += old.rules.unsigned_abs();
            }
        }
        Ok(report)
    }

    async fn reembed_type(
        &self,
        conn: &mut Session,
        tenant: &TenantId,
        memory_type: MemoryType,
        version: Uuid,
        state: &mut ReembedProgress,
        progress: &(dyn Fn(ReembedProgress) + Send + Sync),
    ) -> Result<u64, MemoryError> {
        let origin = Origin { actor: Some("reembed".to_owned()), request_id: None };
        let (mut renewed, mut after) = (0, None);
        loop {
            let batch = stale(conn, tenant, memory_type, version, after, BATCH).await?;
            let Some(last) = batch.last() else { return Ok(renewed) };
            after = Some(last.id);
            let (ids, texts): (Vec<_>, Vec<_>) = batch.into_iter().map(|stale| (stale.id, stale.text)).unzip();
            let vectors = self.embedder().embed_batch(texts).await?;
            let vectors: Vec<_> = ids.into_iter().zip(vectors).collect();
            let write = WriteContext { session: &mut *conn, tenant, now: self.now(), origin: &origin };
            renewed += renew(write, memory_type, version, &vectors).await?;
            state.done += vectors.len() as u64;
            progress(*state);
        }
    }
}
