//! A butler's jobs: the memory's, and those the host brings beside them.

use std::sync::Arc;

use butler_memory::Memory;
use butler_memory::jobs::{JobRequest, JobSpec};
use futures::future::BoxFuture;
use serde_json::Value;

use super::RunError;

/// What the host does for a whole butler on a schedule of its own: backups.
pub trait HostJob: Send + Sync {
    fn spec(&self) -> JobSpec;

    /// What it did, as an object; or why it failed.
    fn run<'a>(&'a self, request: &'a JobRequest) -> BoxFuture<'a, Result<Value, String>>;
}

#[derive(Clone)]
pub struct Jobs {
    memory: Arc<Memory>,
    beside: Vec<Arc<dyn HostJob>>,
}

impl From<Arc<Memory>> for Jobs {
    fn from(memory: Arc<Memory>) -> Self {
        Self { memory, beside: Vec::new() }
    }
}

impl Jobs {
    pub fn new(memory: Arc<Memory>, beside: Vec<Arc<dyn HostJob>>) -> Self {
        Self { memory, beside }
    }

    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// As configured.
    pub fn specs(&self) -> Vec<JobSpec> {
        let beside = self.beside.iter().map(|job| job.spec());
        butler_memory::jobs::jobs(self.memory.config()).into_iter().chain(beside).collect()
    }

    /// Whether it is of the whole butler and so of no single tenant's caller.
    pub fn is_of_the_host(&self, job: &str) -> bool {
        self.beside.iter().any(|beside| beside.spec().name == job)
    }

    pub async fn run(&self, job: &str, request: &JobRequest) -> Result<Value, RunError> {
        match self.beside.iter().find(|beside| beside.spec().name == job) {
            Some(beside) => beside.run(request).await.map_err(RunError::Failed),
            None => Ok(self.memory.run_job(job, request).await?),
        }
    }
}
