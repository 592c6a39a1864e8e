//! Which backups still contain erased memories. The host manages the backups and tells the memory about them.

use butler_domain::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Memory;

/// A backup that still exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptBackup {
    pub name: String,
    pub created_at: Timestamp,
    /// When the schedule deletes it. Null if nothing deletes it.
    pub until: Option<Timestamp>,
}

/// Backups, newest first, and a hint about them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptBackups {
    pub kept: Vec<KeptBackup>,
    pub hint: Option<String>,
}

/// Lists the backups of a butler.
pub trait Backups: Send + Sync + 'static {
    /// The backups made since a time.
    fn since(&self, since: Timestamp, now: Timestamp) -> KeptBackups;
}

impl Memory {
    /// The backups made since a time; none if the memory has no access to backups.
    pub(crate) fn backups_since(&self, since: Timestamp) -> KeptBackups {
        self.backups().map(|backups| backups.since(since, self.now())).unwrap_or_default()
    }
}
