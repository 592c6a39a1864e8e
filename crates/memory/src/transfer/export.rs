use butler_domain::Timestamp;
use butler_domain::event::EventType;
use butler_store::Session;
use butler_store::events::{self, NewEvent};
use butler_store::transfer::Kind;
use butler_store::transfer::read::{self, Sink};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{FORMAT, ModelName, TransferError, VERSION};
use crate::{Call, Memory};

/// The first line of an export file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub format: String,
    pub version: u32,
    pub created_at: Timestamp,
    pub program: String,
    pub butler: String,
    pub tenant: String,
    /// The model of the vectors in the file; `None` if it has no vectors.
    pub embedding: Option<ModelName>,
    /// The number of lines of each kind, by which an import detects a truncated file.
    pub counts: std::collections::BTreeMap<String, u64>,
}

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    pub tenant: String,
    pub lines: u64,
    pub counts: std::collections::BTreeMap<String, u64>,
}

impl Memory {
    /// Writes everything a tenant owns to `sink`, line by line, from one consistent snapshot. It streams the rows, so
    /// memory use does not grow with the data. The file contains the audit event of its own export.
    pub async fn export(
        &self,
        call: &Call,
        vectors: bool,
        sink: &mut Sink<'_>,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<ExportReport, TransferError> {
        let tenant = &call.tenant;
        let mut conn = self.db().owner().await?;
        record_export(call, vectors, &mut conn).await;
        let mut snapshot = read::snapshot(&mut conn).await?;
        let counted = read::counts(&mut snapshot, tenant).await?;
        let total = counted.total();
        let counts =
            Kind::ALL.iter().zip(counted.by_kind()).map(|(kind, n)| (kind.as_str().to_owned(), n.unsigned_abs()));
        let header = Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            created_at: self.now(),
            program: concat!("butler ", env!("CARGO_PKG_VERSION")).to_owned(),
            butler: self.butler().to_string(),
            tenant: tenant.to_string(),
            embedding: vectors.then(|| self.model_name()),
            counts: counts.collect(),
        };
        let first = serde_json::to_string(&header).map_err(std::io::Error::other)?;
        sink(&first)?;
        let mut lines = 0;
        for kind in Kind::ALL {
            let mut counting = |line: &str| {
                lines += 1;
                progress(lines, total);
                sink(line)
            };
            read::lines(&mut snapshot, kind, tenant, vectors, &mut counting).await??;
        }
        snapshot.rollback().await?;
        Ok(ExportReport { tenant: tenant.to_string(), lines, counts: header.counts })
    }

    pub(super) fn model_name(&self) -> ModelName {
        let id = self.embedder().model();
        ModelName { model: id.model.to_owned(), version: id.version.to_owned(), dimensions: id.dimensions }
    }
}

/// Records the export before its first line is written. A database that takes no writes, because it is a standby or its disk
/// is full, must still be exportable, so a failure is only logged.
async fn record_export(call: &Call, vectors: bool, session: &mut Session) {
    let payload = json!({"embeddings": vectors});
    let event = NewEvent { event_type: EventType::MemoryExported, about: None, payload };
    if let Err(error) = events::record(call.write(session), &[event]).await {
        tracing::warn!(%error, tenant = %call.tenant, "the export is not recorded in the audit log");
    }
}
