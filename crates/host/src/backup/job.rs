//! Scheduled backups, as one of the butler's jobs.

use butler_memory::jobs::{JobRequest, JobSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{BackupSource, prune};
use crate::config::ButlerConfig;
use crate::error::HostError;
use crate::scheduler::HostJob;

pub const JOB: &str = "backup";

pub struct BackupJob {
    source: BackupSource,
    cron: String,
    time_zone: String,
    enabled: bool,
    keep: usize,
}

impl BackupJob {
    /// `None` if no schedule is configured.
    pub fn new(config: &ButlerConfig, source: BackupSource) -> Option<Self> {
        let (backup, schedule) = (&config.file.butler.backup, &config.file.modules.memory.schedule);
        Some(Self {
            source,
            cron: backup.schedule.clone()?,
            time_zone: schedule.time_zone.clone(),
            enabled: schedule.enabled,
            keep: backup.keep as usize,
        })
    }

    async fn create_and_prune(&self) -> Result<Value, HostError> {
        let backup = self.source.create().await?;
        // Only after a success, or repeated failures would remove all backups. And not while the clock is in doubt: a
        // backup that only seems old may be the latest.
        let removed = if self.source.clock_is_in_doubt().await? { 0 } else { prune(&self.source.folder, self.keep)? };
        let rows = &backup.manifest.contents.rows;
        Ok(json!({"name": backup.name, "path": backup.path, "bytes": backup.bytes, "rows": rows, "removed": removed}))
    }
}

impl HostJob for BackupJob {
    fn spec(&self) -> JobSpec {
        JobSpec {
            name: JOB,
            about: "backs up the whole butler and removes old backups",
            cron: self.cron.clone(),
            time_zone: self.time_zone.clone(),
            enabled: self.enabled,
        }
    }

    fn run<'a>(&'a self, request: &'a JobRequest) -> BoxFuture<'a, Result<Value, String>> {
        async move {
            if request.dry_run {
                return Err("a backup has no dry run; `butler backup verify` tests an existing backup".to_owned());
            }
            if request.tenant.is_some() {
                return Err("a backup contains all tenants: leave --tenant out, or use `butler export`".to_owned());
            }
            tokio::select! {
                created = self.create_and_prune() => created.map_err(|error| error.to_string()),
                () = request.stop.cancelled() => Err("stopped before the backup was complete".to_owned()),
            }
        }
        .boxed()
    }
}
