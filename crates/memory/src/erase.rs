//! Erases all memory of a tenant.

use butler_domain::Timestamp;
use butler_store::erase;
use serde::Serialize;

use crate::backups::KeptBackup;
use crate::{Call, Memory, MemoryError};

pub use butler_store::erase::TenantCounts;

/// What erasing a tenant did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TenantErased {
    #[serde(flatten)]
    pub counts: TenantCounts,
    /// Backups that still hold what was erased.
    pub backups: Vec<KeptBackup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backups_hint: Option<String>,
}

impl Memory {
    /// Deletes all memory of the call's tenant and the text in its events. A dry run changes nothing.
    pub async fn erase_tenant(&self, call: &Call, dry_run: bool) -> Result<TenantErased, MemoryError> {
        let mut conn = self.db().tenant(&call.tenant).await?;
        let counts = erase::tenant(call.write(&mut conn), dry_run).await?;
        // Any backup may hold it.
        let backups = if counts.is_unknown() { Default::default() } else { self.backups_since(Timestamp::UNIX_EPOCH) };
        Ok(TenantErased { counts, backups: backups.kept, backups_hint: backups.hint })
    }
}
