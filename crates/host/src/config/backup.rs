//! `[butler.backup]`: whole-database backups by themselves.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupSection {
    /// Five cron fields, in the time zone of `[modules.memory.schedule]`; omitted: only `butler backup create` makes one.
    pub schedule: Option<String>,
    /// A scheduled backup that succeeded leaves this many of the newest, itself included.
    pub keep: u32,
    /// Each butler's backups are in a folder of its own below it. Omitted: `backups` in the data directory.
    pub dir: Option<PathBuf>,
}

impl BackupSection {
    /// A week of nights.
    const KEEP: u32 = 7;
}

impl Default for BackupSection {
    fn default() -> Self {
        Self { schedule: None, keep: Self::KEEP, dir: None }
    }
}
