//! `[butler.backup]`: scheduled backups of the whole database.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupSection {
    /// When to create backups: five cron fields, in the time zone of `[modules.memory.schedule]`. Default: no scheduled
    /// backups.
    pub schedule: Option<String>,
    /// Number of backups to keep. Older ones are removed after a scheduled backup has succeeded.
    pub keep: u32,
    /// Directory of the backups, with a subdirectory for each butler. Default: `backups` in the data directory.
    pub dir: Option<PathBuf>,
}

impl BackupSection {
    /// One week of nightly backups.
    const KEEP: u32 = 7;
}

impl Default for BackupSection {
    fn default() -> Self {
        Self { schedule: None, keep: Self::KEEP, dir: None }
    }
}
