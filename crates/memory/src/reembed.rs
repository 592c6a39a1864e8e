//! After a change of model: everything an older one embedded is embedded again.

use butler_domain::event::Origin;
use butler_domain::{MemoryType, TenantId};
use butler_store::reembed::{VersionCount, renew, stale, tenants, version_id, versions};
use butler_store::{Session, WriteContext};
use serde::Serialize;
use uuid::Uuid;

use crate::{Call, Memory, MemoryError};

/// Enough for the engine to fill its batches, little enough that a killed job repeats a second's work at most.
const BATCH: i64 = 64;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReembedReport {
    pub episodes: u64,
    pub facts: u64,
    pub rules: u64,
}

/// How far the job is, over all tenants it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReembedProgress {
    pub done: u64,
    pub total: u64,
}

impl Memory {
    /// Embeds again what another version of the model embedded (or nobody), of one tenant or of all. A job that was
    /// killed goes on where it was, because what is done is no longer stale. Readers never compare vectors of two
    /// versions; what is not done yet is found by its words meanwhile.
    pub async fn reembed(
        &self,
        tenant: Option<&TenantId>,
        progress: &(dyn Fn(ReembedProgress) + Send + Sync),
    ) -> Result<ReembedReport, MemoryError> {
        let mut conn = self.db().owner().await?;
        let of = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => tenants(&mut conn).await?,
        };
        let mut work = Vec::new();
        let mut at = ReembedProgress { done: 0, total: 0 };
        for tenant in of {
            let version = version_id(&mut conn, &tenant, &self.model(), self.now()).await?;
            let old = versions(&mut conn, &tenant).await?.into_iter().filter(|count| count.id != Some(version));
            let left: i64 = old.map(|count| count.episodes + count.facts + count.rules).sum();
            at.total += left.unsigned_abs();
            work.push((tenant, version));
        }
        progress(at);
        let mut report = ReembedReport::default();
        for (tenant, version) in work {
            for memory_type in [MemoryType::Fact, MemoryType::Rule, MemoryType::Episode] {
                let renewed = self.reembed_type(&mut conn, &tenant, memory_type, version, &mut at, progress).await?;
                match memory_type {
                    MemoryType::Fact => report.facts += renewed,
                    MemoryType::Rule => report.rules += renewed,
                    MemoryType::Episode => report.episodes += renewed,
                }
            }
        }
        Ok(report)
    }

    /// What [`Self::reembed`] would embed again.
    pub async fn reembed_dry(&self, tenant: Option<&TenantId>) -> Result<ReembedReport, MemoryError> {
        let mut conn = self.db().owner().await?;
        let of = match tenant {
            Some(tenant) => vec![tenant.clone()],
            None => tenants(&mut conn).await?,
        };
        let model = self.model();
        let mut report = ReembedReport::default();
        for tenant in of {
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
        at: &mut ReembedProgress,
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
            at.done += vectors.len() as u64;
            progress(*at);
        }
    }

    /// Which versions of which models embedded how much.
    pub async fn embedding_versions(&self, call: &Call) -> Result<Vec<VersionCount>, MemoryError> {
        let mut conn = self.db().reader(&call.tenant).await?;
        Ok(versions(&mut conn, &call.tenant).await?)
    }
}
