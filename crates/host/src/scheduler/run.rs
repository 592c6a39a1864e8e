//! Runs one job under its lock and records the run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_domain::{TenantId, Timestamp};
use butler_memory::MemoryError;
use butler_memory::jobs::JobRequest;
use butler_store::jobs as records;
use futures::FutureExt;
use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;
use uuid::Uuid;

use super::{ScheduledJob, Scheduler, Trigger, plan};

/// The result of a successful run.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    pub result: Value,
    pub took: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{job} is already running{}", since(.worker, .started_at))]
    Busy { job: String, worker: Option<String>, started_at: Option<Timestamp> },
    #[error("{0}")]
    Failed(String),
    /// The job's report says that it failed. The reason may quote memories, so it does not belong into a log.
    #[error("{0}")]
    Reported(String),
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

fn since(worker: &Option<String>, started_at: &Option<Timestamp>) -> String {
    match (worker, started_at) {
        (Some(worker), Some(at)) => format!(", on {worker} since {}", at.format("%Y-%m-%d %H:%M:%SZ")),
        _ => String::new(),
    }
}

/// The reason in a report that says that its run failed.
fn reported_failure(report: &Value) -> Option<String> {
    (report["status"] == "failed").then(|| report["error"].as_str().unwrap_or("no reason was recorded").to_owned())
}

impl Scheduler {
    /// Runs a job now: by hand or because of an event. Fails if the job is already running.
    pub async fn run_now(
        self: &Arc<Self>,
        job: &str,
        trigger: Trigger,
        request: JobRequest,
    ) -> Result<FinishedRun, RunError> {
        if !self.all.is_host_job(job) {
            self.memory.check_job_exists(job)?;
        }
        if request.dry_run {
            // A dry run writes nothing, so it needs neither the lock nor a record.
            let started = Instant::now();
            let result = self.all.run(job, &request).await?;
            return Ok(FinishedRun { result, took: started.elapsed() });
        }
        if !self.locks.lock().await.try_take(job).await.map_err(MemoryError::from)? {
            return Err(self.busy(job).await);
        }
        let outcome = self.recorded(job, trigger, request).await;
        self.release(job).await;
        outcome
    }

    /// Starts a due job in the background, unless another process is running it or has just finished it. Returns
    /// whether it was started.
    pub(super) async fn start(
        self: &Arc<Self>,
        index: usize,
        trigger: Trigger,
        permit: SemaphorePermit<'static>,
    ) -> Result<bool, MemoryError> {
        let job = self.jobs[index].spec.name;
        if !self.locks.lock().await.try_take(job).await? {
            return Ok(false);
        }
        match self.is_still_due(&self.jobs[index]).await {
            Ok(true) => {}
            outcome => {
                self.release(job).await;
                return outcome;
            }
        }
        let this = Arc::clone(self);
        let mut running = self.running.lock().await;
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            let planned = &this.jobs[index];
            let request = JobRequest { stop: this.stop.clone(), ..JobRequest::default() };
            match this.recorded(job, trigger, request).await {
                Ok(_) => {}
                Err(RunError::Reported(_)) => {
                    tracing::error!(job, "the job failed; `butler jobs list` shows the reason")
                }
                Err(error) => tracing::error!(job, %error, "the job failed"),
            }
            if let Err(error) = this.plan_next(planned).await {
                tracing::warn!(job, %error, "cannot store the next run; the job will run again");
            }
            this.release(job).await;
            drop(permit);
        });
        Ok(true)
    }

    /// Checks again under the lock, because another process may have finished the job meanwhile.
    async fn is_still_due(&self, job: &ScheduledJob) -> Result<bool, MemoryError> {
        let mut conn = self.memory.db().owner().await?;
        let row = records::schedule(&mut conn, job.spec.name).await?;
        Ok(row.and_then(|row| row.next_run_at).is_some_and(|next| next <= self.memory.now()))
    }

    /// Stores the next run. This happens after the run, so that the job is still due if its process dies.
    async fn plan_next(&self, job: &ScheduledJob) -> Result<(), MemoryError> {
        let now = self.memory.now();
        let next = plan::next_after(&job.schedule, now, self.jitter(job));
        let mut conn = self.memory.db().owner().await?;
        Ok(records::set_next_run(&mut conn, job.spec.name, next, now).await?)
    }

    async fn recorded(&self, job: &str, trigger: Trigger, request: JobRequest) -> Result<FinishedRun, RunError> {
        let id = self.begin(job, request.tenant.as_ref(), trigger).await?;
        let started = Instant::now();
        let outcome = AssertUnwindSafe(self.all.run(job, &request)).catch_unwind().await;
        let (result, failure) = match outcome {
            Ok(Ok(result)) => {
                let failure = reported_failure(&result).map(RunError::Reported);
                (result, failure)
            }
            Ok(Err(error)) => (json!({}), Some(RunError::Failed(error.to_string()))),
            Err(_) => (json!({}), Some(RunError::Failed("a bug in the program; the log has the details".to_owned()))),
        };
        let took = started.elapsed();
        tracing::info!(job, trigger = trigger.as_str(), ?took, ok = failure.is_none(), "the job has finished");
        let reason = failure.as_ref().map(ToString::to_string);
        if let Err(error) = self.finish(id, &result, reason.as_deref()).await {
            tracing::warn!(job, %error, "cannot record the end of the run");
        }
        match failure {
            None => Ok(FinishedRun { result, took }),
            Some(failure) => Err(failure),
        }
    }

    async fn begin(&self, job: &str, tenant: Option<&TenantId>, trigger: Trigger) -> Result<Uuid, MemoryError> {
        let mut conn = self.memory.db().owner().await?;
        let now = self.memory.now();
        Ok(records::begin_run(&mut conn, job, tenant, trigger.as_str(), &self.worker, now).await?)
    }

    async fn finish(&self, id: Uuid, result: &Value, error: Option<&str>) -> Result<(), MemoryError> {
        let mut conn = self.memory.db().owner().await?;
        Ok(records::finish_run(&mut conn, id, result, error, self.memory.now()).await?)
    }

    async fn release(&self, job: &str) {
        if let Err(error) = self.locks.lock().await.release(job).await {
            tracing::warn!(job, %error, "the job's lock was lost with its connection");
        }
    }

    async fn busy(&self, job: &str) -> RunError {
        let row = async {
            let mut conn = self.memory.db().owner().await?;
            Ok::<_, MemoryError>(records::runs(&mut conn, Some(job), None, 1).await?.into_iter().next())
        };
        let row = row.await.ok().flatten().filter(|row| row.status == "running");
        RunError::Busy {
            job: job.to_owned(),
            worker: row.as_ref().and_then(|row| row.worker.clone()),
            started_at: row.map(|row| row.started_at),
        }
    }
}
