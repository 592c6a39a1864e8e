//! Runs a butler's jobs on their schedules: each job in one process at a time, and only once for all runs that were
//! missed during downtime.

mod jobs;
mod plan;
mod run;

use std::sync::Arc;
use std::time::Duration;

use butler_domain::Timestamp;
use butler_memory::jobs::{CONSOLIDATION, EPISODE_CLEANUP, INVERSION, JobRequest, JobSpec, RETRAIN_INDEXES};
use butler_memory::schedule::Schedule;
use butler_memory::{Memory, MemoryError};
use butler_store::jobs::{self as records, Locks, ScheduleRow};
use chrono::TimeDelta;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use jobs::{HostJob, Jobs, waits_for_clock};
pub use run::{FinishedRun, RunError};

/// The scheduler wakes up at least this often, because the clock may jump and other processes may change the next run.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);
/// How long a job that was triggered by an event waits before it tries again while another run is in progress. Short,
/// so that a harmful rule is inverted within a second.
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// While no job is due, the schedules are read from the database no more often than this, because many butlers share
/// its connections. Changes by other processes are checked under the job's lock.
const RECHECK_AFTER: TimeDelta = TimeDelta::minutes(10);
/// Concurrent jobs of all butlers in the process. A job holds one connection for its lock and uses more for its work.
const MAX_JOBS: usize = 8;
/// Concurrent reads of schedules by all butlers in the process. Without a limit, hundreds of butlers that start
/// together would use up the connections.
const MAX_CHECKS: usize = 4;
/// Delay before a due job is tried again after the limit of concurrent jobs was reached.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(1);

static JOBS: Semaphore = Semaphore::const_new(MAX_JOBS);
static CHECKS: Semaphore = Semaphore::const_new(MAX_CHECKS);

/// How long a running job may take to stop at shutdown.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Why a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    Schedule,
    /// More than one scheduled run was missed; this run replaces all of them.
    CatchUp,
    /// An event requested the run.
    Wake,
    Manual,
}

impl Trigger {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::CatchUp => "catch_up",
            Self::Wake => "wake",
            Self::Manual => "manual",
        }
    }
}

/// The name of this worker in the records of runs: machine and process id.
pub fn worker_name() -> String {
    let uname = rustix::system::uname();
    format!("{}:{}", uname.nodename().to_string_lossy(), std::process::id())
}

struct ScheduledJob {
    spec: JobSpec,
    schedule: Schedule,
}

/// The result of the last check of the schedules.
#[derive(Clone, Copy)]
struct LastCheck {
    checked_at: Timestamp,
    next: Option<Timestamp>,
}

impl LastCheck {
    /// Whether the result can be reused: nothing is due, and the clock has not gone back.
    fn is_current(&self, now: Timestamp) -> bool {
        self.next.is_some_and(|next| now < next) && self.checked_at <= now && now - self.checked_at < RECHECK_AFTER
    }
}

/// Whether cleanup waits for a consolidation that is due. It does not if one has finished since cleanup became due;
/// otherwise a consolidation that is always due would keep it waiting forever.
fn comes_first(consolidation: Option<&ScheduleRow>, cleanup: &ScheduleRow) -> bool {
    // The next run is stored when a run has finished, so it is later than the last start.
    consolidation.is_some_and(|due| due.last_run_at < cleanup.next_run_at || due.next_run_at <= due.last_run_at)
}

pub struct Scheduler {
    memory: Arc<Memory>,
    all: Jobs,
    jobs: Vec<ScheduledJob>,
    /// The name of this worker in the records of runs.
    worker: String,
    locks: Mutex<Locks>,
    running: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl Scheduler {
    /// Creates a scheduler. The configuration has validated the schedules; a job whose schedule is still invalid is
    /// skipped and logged.
    pub fn new(jobs: impl Into<Jobs>, worker: String) -> Arc<Self> {
        let all: Jobs = jobs.into();
        let planned = all.specs().into_iter().filter_map(|spec| match spec.schedule() {
            Ok(schedule) => Some(ScheduledJob { spec, schedule }),
            Err(problem) => {
                tracing::error!(job = spec.name, problem, "the schedule is invalid; the job will not run");
                None
            }
        });
        let jobs = planned.collect();
        let memory = Arc::clone(all.memory());
        let locks = Mutex::new(Locks::new(memory.db().clone()));
        let (running, stop) = (Mutex::new(JoinSet::new()), CancellationToken::new());
        Arc::new(Self { memory, all, jobs, worker, locks, running, stop })
    }

    /// Runs jobs until [`Self::shut_down`]. If the database is unavailable, it tries again.
    pub async fn run(self: Arc<Self>) {
        let wakers =
            [tokio::spawn(Arc::clone(&self).wake_inversion()), tokio::spawn(Arc::clone(&self).wake_retraining())];
        let mut declared = false;
        let mut last: Option<LastCheck> = None;
        while !self.stop.is_cancelled() {
            let now = self.memory.now();
            self.watch_clock().await;
            let round = async {
                if let Some(last) = last.filter(|last| last.is_current(now)) {
                    return Ok(last);
                }
                let _permit = CHECKS.acquire().await;
                if !declared {
                    self.declare().await?;
                    declared = true;
                }
                Ok::<_, MemoryError>(LastCheck { checked_at: now, next: self.tick().await? })
            };
            let pause = match round.await {
                Ok(check) => {
                    last = Some(check);
                    self.pause_until(check.next)
                }
                Err(error) => {
                    last = None;
                    tracing::warn!(%error, "cannot read the schedules; trying again");
                    LONGEST_SLEEP
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        wakers.iter().for_each(tokio::task::JoinHandle::abort);
    }

    /// Notices a jump of the clock. A database that is away is reported by the read of the schedules.
    async fn watch_clock(&self) {
        let _permit = CHECKS.acquire().await;
        let _ = self.memory.watch_clock().await;
    }

    /// Asks running jobs to stop, and aborts them after a grace period.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        let mut running = self.running.lock().await;
        let ended = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_GRACE, ended).await.is_err() {
            tracing::warn!("a job did not stop in time; its open transaction is rolled back");
            running.shutdown().await;
        }
    }

    /// Waits for the running jobs to finish.
    pub async fn idle(&self) {
        let mut running = self.running.lock().await;
        while running.join_next().await.is_some() {}
    }

    /// Writes the configured schedules to the database.
    pub async fn declare(&self) -> Result<(), MemoryError> {
        let now = self.memory.now();
        let mut conn = self.memory.db().owner().await?;
        for job in &self.jobs {
            let spec = &job.spec;
            records::declare(&mut conn, spec.name, &spec.cron, &spec.time_zone, spec.enabled, now).await?;
        }
        Ok(())
    }

    /// Starts the jobs that are due. Returns the time of the next run.
    pub async fn tick(self: &Arc<Self>) -> Result<Option<Timestamp>, MemoryError> {
        let now = self.memory.now();
        let mut next: Option<Timestamp> = None;
        let mut consolidation: Option<ScheduleRow> = None;
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.spec.enabled) {
            let mut conn = self.memory.db().owner().await?;
            let Some(row) = records::schedule(&mut conn, job.spec.name).await? else { continue };
            let plan = plan::decide(&job.schedule, row.next_run_at, now, self.jitter(job));
            if let plan::Plan::Reschedule(to) = plan {
                records::set_next_run(&mut conn, job.spec.name, to, now).await?;
            }
            drop(conn);
            let is_held = self.memory.clock_doubt().is_some() && waits_for_clock(job.spec.name);
            let at = match plan {
                // It stays due, and runs when the clock is trusted again.
                plan::Plan::Run(_) if is_held => Some(now + TimeDelta::from_std(LONGEST_SLEEP).unwrap_or(RETRY_AFTER)),
                // After downtime both are due: learn from the episodes before any of them is removed.
                plan::Plan::Run(_) if job.spec.name == EPISODE_CLEANUP && comes_first(consolidation.as_ref(), &row) => {
                    Some(now + TimeDelta::from_std(LONGEST_SLEEP).unwrap_or(RETRY_AFTER))
                }
                plan::Plan::Wait(at) => Some(at),
                plan::Plan::Reschedule(to) => to,
                plan::Plan::Run(trigger) => match JOBS.try_acquire() {
                    Ok(permit) => match self.start(index, trigger, permit).await? {
                        true => plan::next_after(&job.schedule, now, self.jitter(job)),
                        // Another process is running the job. Check again, because that process may die.
                        false => Some(now + TimeDelta::from_std(LONGEST_SLEEP).unwrap_or(RETRY_AFTER)),
                    },
                    Err(_) => Some(now + RETRY_AFTER),
                },
            };
            next = [next, at].into_iter().flatten().min();
            if job.spec.name == CONSOLIDATION && matches!(plan, plan::Plan::Run(_)) {
                consolidation = Some(row);
            }
        }
        Ok(next)
    }

    fn jitter(&self, job: &ScheduledJob) -> TimeDelta {
        plan::jitter(self.memory.butler().as_str(), job.spec.name)
    }

    fn pause_until(&self, next: Option<Timestamp>) -> Duration {
        let left = next.map_or(TimeDelta::MAX, |next| next - self.memory.now());
        left.to_std().unwrap_or(Duration::ZERO).clamp(Duration::from_millis(50), LONGEST_SLEEP)
    }

    /// Retrains a vector index as soon as a search finds it outgrown. If the job is already running or fails, nothing
    /// else is needed, because a later search requests it again.
    async fn wake_retraining(self: Arc<Self>) {
        if !self.jobs.iter().any(|job| job.spec.name == RETRAIN_INDEXES && job.spec.enabled) {
            return;
        }
        loop {
            self.memory.retraining_requested().await;
            match self.run_now(RETRAIN_INDEXES, Trigger::Wake, JobRequest::default()).await {
                Ok(_) | Err(RunError::Busy { .. }) => {}
                Err(error) => tracing::error!(%error, "cannot retrain an outgrown vector index"),
            }
        }
    }

    /// Inverts a rule as soon as it has been marked harmful too often.
    async fn wake_inversion(self: Arc<Self>) {
        loop {
            self.memory.inversion_requested().await;
            // A run in progress may already have passed this rule, so wait and run the job again.
            let outcome = loop {
                match self.run_now(INVERSION, Trigger::Wake, JobRequest::default()).await {
                    Err(RunError::Busy { .. }) => tokio::time::sleep(BUSY_PAUSE).await,
                    outcome => break outcome,
                }
            };
            if let Err(error) = outcome {
                tracing::error!(%error, "cannot invert harmful rules; the next sweep will try again");
            }
        }
    }
}
