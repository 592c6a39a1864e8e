//! Backups on a schedule, among the butler's jobs.

use butler_memory::jobs::{JobRequest, JobSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::{Source, prune};
use crate::config::ButlerConfig;
use crate::error::HostError;
use crate::scheduler::HostJob;

pub const JOB: &str = "backup";

pub struct Scheduled {
    source: Source,
    cron: String,
    time_zone: String,
    enabled: bool,
    keep: usize,
}

impl Scheduled {
    /// `None`: the configuration names no schedule.
    pub fn new(config: &ButlerConfig, source: Source) -> Option<Self> {
        let (backup, schedule) = (&config.file.butler.backup, &config.file.modules.memory.schedule);
        Some(Self {
            source,
            cron: backup.schedule.clone()?,
            time_zone: schedule.time_zone.clone(),
            enabled: schedule.enabled,
            keep: backup.keep as usize,
        })
    }

    async fn make(&self) -> Result<Value, HostError> {
        let stored = self.source.create().await?;
        // Only after one that succeeded, or failures would eat up what there is.
        let removed = prune(&self.source.folder, self.keep)?;
        let rows = &stored.note.contents.rows;
        Ok(json!({"name": stored.name, "path": stored.path, "bytes": stored.bytes, "rows": rows, "removed": removed}))
    }
}

impl HostJob for Scheduled {
    fn spec(&self) -> JobSpec {
        JobSpec {
            name: JOB,
            about: "backs up the whole butler and keeps the newest",
            cron: self.cron.clone(),
            time_zone: self.time_zone.clone(),
            enabled: self.enabled,
        }
    }

    fn run<'a>(&'a self, request: &'a JobRequest) -> BoxFuture<'a, Result<Value, String>> {
        async move {
            if request.dry_run {
                return Err(
                    "a backup cannot be tried without making it: `butler backup verify` rehearses one".to_owned()
                );
            }
            if request.tenant.is_some() {
                return Err("a backup is of all tenants: leave --tenant out, or use `butler export`".to_owned());
            }
            tokio::select! {
                made = self.make() => made.map_err(|error| error.to_string()),
                () = request.stop.cancelled() => Err("stopped before it was done".to_owned()),
            }
        }
        .boxed()
    }
}
