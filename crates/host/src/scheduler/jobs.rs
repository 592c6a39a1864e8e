//! A butler's jobs: those of its memory and those of the host.

use std::sync::Arc;

use butler_memory::Memory;
use butler_memory::jobs::{DECAY_SWEEP, EPISODE_CLEANUP, JobRequest, JobSpec};
use futures::future::BoxFuture;
use serde_json::Value;

use super::RunError;

/// A scheduled job that the host runs for a whole butler, such as a backup.
pub trait HostJob: Send + Sync {
    fn spec(&self) -> JobSpec;

    /// Returns what the job did, as a JSON object, or why it failed.
    fn run<'a>(&'a self, request: &'a JobRequest) -> BoxFuture<'a, Result<Value, String>>;
}

/// Whether a job deletes or expires memories because of their age, so that it waits while the clock is in doubt.
pub fn waits_for_clock(job: &str) -> bool {
    matches!(job, DECAY_SWEEP | EPISODE_CLEANUP)
}

#[derive(Clone)]
pub struct Jobs {
    memory: Arc<Memory>,
    host_jobs: Vec<Arc<dyn HostJob>>,
}

impl From<Arc<Memory>> for Jobs {
    fn from(memory: Arc<Memory>) -> Self {
        Self { memory, host_jobs: Vec::new() }
    }
}

impl Jobs {
    pub fn new(memory: Arc<Memory>, host_jobs: Vec<Arc<dyn HostJob>>) -> Self {
        Self { memory, host_jobs }
    }

    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// All jobs with their configured schedules.
    pub fn specs(&self) -> Vec<JobSpec> {
        let host_jobs = self.host_jobs.iter().map(|job| job.spec());
        butler_memory::jobs::jobs(self.memory.config()).into_iter().chain(host_jobs).collect()
    }

    /// Whether the host runs the job. Such a job affects the whole butler, so it is not available to a single tenant.
    pub fn is_host_job(&self, job: &str) -> bool {
        self.host_jobs.iter().any(|host_jobs| host_jobs.spec().name == job)
    }

    pub async fn run(&self, job: &str, request: &JobRequest) -> Result<Value, RunError> {
        match self.host_jobs.iter().find(|host_jobs| host_jobs.spec().name == job) {
            Some(host_jobs) => host_jobs.run(request).await.map_err(RunError::Failed),
            None => Ok(self.memory.run_job(job, request).await?),
        }
    }
}
