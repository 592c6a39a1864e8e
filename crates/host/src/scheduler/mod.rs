//! Runs a butler's jobs on their schedules: each on one replica at a time, never beside itself, once after downtime.

mod jobs;
mod plan;
mod run;

use std::sync::Arc;
use std::time::Duration;

use butler_domain::Timestamp;
use butler_memory::jobs::{INVERSION, JobRequest, JobSpec, RETRAIN_INDEXES};
use butler_memory::schedule::Schedule;
use butler_memory::{Memory, MemoryError};
use butler_store::jobs::{self as records, Locks};
use chrono::TimeDelta;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use jobs::{HostJob, Jobs};
pub use run::{Finished, RunError};

/// Nothing is slept through longer than this: the clock may jump, and other replicas move the next run.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);
/// How soon a job that was woken looks again whether the one that runs already is done; a rule is turned within a second.
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// Unless something is due by what is known, the database is asked no more often than this: many butlers share its
/// connections. What another replica changes meanwhile concerns that replica, and is looked at under the lock.
const ASK_AGAIN: TimeDelta = TimeDelta::minutes(10);
/// Of all butlers of the process together: a job holds a connection for its lock, and works with more.
const JOBS_AT_ONCE: usize = 8;
/// Looks at schedules, of all butlers together: hundreds that start at once would take all connections for it.
const LOOKS_AT_ONCE: usize = 4;
/// A due job for which there was no room is tried again after this.
const NO_ROOM: TimeDelta = TimeDelta::seconds(1);

static JOBS: Semaphore = Semaphore::const_new(JOBS_AT_ONCE);
static LOOKS: Semaphore = Semaphore::const_new(LOOKS_AT_ONCE);

/// A running job that was told to stop has this long to give back what it holds.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// Why a job runs now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    Schedule,
    /// More than one run was missed; this one stands for all of them.
    CatchUp,
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

/// Who runs a job, in the records of all replicas: machine and process.
pub fn worker_name() -> String {
    let uname = rustix::system::uname();
    format!("{}:{}", uname.nodename().to_string_lossy(), std::process::id())
}

struct Planned {
    spec: JobSpec,
    schedule: Schedule,
}

/// What the last look at the schedules found.
#[derive(Clone, Copy)]
struct Known {
    asked: Timestamp,
    next: Option<Timestamp>,
}

impl Known {
    /// Not when something is due, nor when the clock went back.
    fn still_holds(&self, now: Timestamp) -> bool {
        self.next.is_some_and(|next| now < next) && self.asked <= now && now - self.asked < ASK_AGAIN
    }
}

pub struct Scheduler {
    memory: Arc<Memory>,
    all: Jobs,
    jobs: Vec<Planned>,
    /// Who runs it, in the records: host name and process.
    worker: String,
    locks: Mutex<Locks>,
    running: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl Scheduler {
    /// The schedules were checked when the configuration was read; one that cannot be read is left out, and says so.
    pub fn new(jobs: impl Into<Jobs>, worker: String) -> Arc<Self> {
        let all: Jobs = jobs.into();
        let planned = all.specs().into_iter().filter_map(|spec| match spec.schedule() {
            Ok(schedule) => Some(Planned { spec, schedule }),
            Err(problem) => {
                tracing::error!(job = spec.name, problem, "the job is not scheduled");
                None
            }
        });
        let jobs = planned.collect();
        let memory = Arc::clone(all.memory());
        let locks = Mutex::new(Locks::new(memory.db().clone()));
        let (running, stop) = (Mutex::new(JoinSet::new()), CancellationToken::new());
        Arc::new(Self { memory, all, jobs, worker, locks, running, stop })
    }

    /// Until [`Self::shut_down`]. A database that is away is asked again; nothing ends the loop but the end of the host.
    pub async fn run(self: Arc<Self>) {
        let wakers =
            [tokio::spawn(Arc::clone(&self).wake_inversion()), tokio::spawn(Arc::clone(&self).wake_retraining())];
        let mut declared = false;
        let mut known: Option<Known> = None;
        while !self.stop.is_cancelled() {
            let now = self.memory.now();
            let round = async {
                if let Some(known) = known.filter(|known| known.still_holds(now)) {
                    return Ok(known);
                }
                let _look = LOOKS.acquire().await;
                if !declared {
                    self.declare().await?;
                    declared = true;
                }
                Ok::<_, MemoryError>(Known { asked: now, next: self.tick().await? })
            };
            let pause = match round.await {
                Ok(learnt) => {
                    known = Some(learnt);
                    self.pause_until(learnt.next)
                }
                Err(error) => {
                    known = None;
                    tracing::warn!(%error, "the schedules could not be read; they are tried again");
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

    /// Lets running jobs give back what they hold, then ends them.
    pub async fn shut_down(&self) {
        self.stop.cancel();
        let mut running = self.running.lock().await;
        let ended = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(STOP_GRACE, ended).await.is_err() {
            tracing::warn!("a job did not stop in time; what it was at is rolled back");
            running.shutdown().await;
        }
    }

    /// Waits for the jobs that run now.
    pub async fn idle(&self) {
        let mut running = self.running.lock().await;
        while running.join_next().await.is_some() {}
    }

    /// Writes the configured schedules down.
    pub async fn declare(&self) -> Result<(), MemoryError> {
        let now = self.memory.now();
        let mut conn = self.memory.db().owner().await?;
        for job in &self.jobs {
            let spec = &job.spec;
            records::declare(&mut conn, spec.name, &spec.cron, &spec.time_zone, spec.enabled, now).await?;
        }
        Ok(())
    }

    /// Starts what is due. Returns when the next job is.
    pub async fn tick(self: &Arc<Self>) -> Result<Option<Timestamp>, MemoryError> {
        let now = self.memory.now();
        let mut next: Option<Timestamp> = None;
        for (index, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.spec.enabled) {
            let mut conn = self.memory.db().owner().await?;
            let Some(row) = records::schedule(&mut conn, job.spec.name).await? else { continue };
            let plan = plan::decide(&job.schedule, row.next_run_at, now, self.jitter(job));
            if let plan::Plan::Move(to) = plan {
                records::set_next_run(&mut conn, job.spec.name, to, now).await?;
            }
            drop(conn);
            let at = match plan {
                plan::Plan::Wait(at) => Some(at),
                plan::Plan::Move(to) => to,
                plan::Plan::Run(trigger) => match JOBS.try_acquire() {
                    Ok(room) => match self.start(index, trigger, room).await? {
                        true => plan::next_after(&job.schedule, now, self.jitter(job)),
                        // Somebody else is at it, and may die over it.
                        false => Some(now + TimeDelta::from_std(LONGEST_SLEEP).unwrap_or(NO_ROOM)),
                    },
                    Err(_) => Some(now + NO_ROOM),
                },
            };
            next = [next, at].into_iter().flatten().min();
        }
        Ok(next)
    }

    fn jitter(&self, job: &Planned) -> TimeDelta {
        plan::jitter(self.memory.butler().as_str(), job.spec.name)
    }

    fn pause_until(&self, next: Option<Timestamp>) -> Duration {
        let left = next.map_or(TimeDelta::MAX, |next| next - self.memory.now());
        left.to_std().unwrap_or(Duration::ZERO).clamp(Duration::from_millis(50), LONGEST_SLEEP)
    }

    /// An index that a search found outgrown is trained at once, once: who trains it already, or failed to, need not be
    /// followed, since the next search asks again after a while.
    async fn wake_retraining(self: Arc<Self>) {
        if !self.jobs.iter().any(|job| job.spec.name == RETRAIN_INDEXES && job.spec.enabled) {
            return;
        }
        loop {
            self.memory.retraining_requested().await;
            match self.run_now(RETRAIN_INDEXES, Trigger::Wake, JobRequest::default()).await {
                Ok(_) | Err(RunError::Busy { .. }) => {}
                Err(error) => tracing::error!(%error, "an outgrown vector index could not be trained"),
            }
        }
    }

    /// A rule that was marked harmful too often is turned at once.
    async fn wake_inversion(self: Arc<Self>) {
        loop {
            self.memory.inversion_requested().await;
            // Whoever runs it may have passed the rule already, so that it is not done until it is done here.
            let outcome = loop {
                match self.run_now(INVERSION, Trigger::Wake, JobRequest::default()).await {
                    Err(RunError::Busy { .. }) => tokio::time::sleep(BUSY_PAUSE).await,
                    outcome => break outcome,
                }
            };
            if let Err(error) = outcome {
                tracing::error!(%error, "rules could not be inverted; the next sweep will");
            }
        }
    }
}
