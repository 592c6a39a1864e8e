//! Checks that scheduled jobs run on time and succeed.

use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_host::scheduler::{Jobs, waits_for_clock};
use butler_memory::Memory;
use butler_store::StoreError;
use butler_store::jobs::{self as records, RunRow, ScheduleRow};
use chrono::TimeDelta;

use super::check::Check;

const NAME: &str = "schedules";
/// Delay after which a job counts as late. A running server is at most some seconds late, and a server that has just
/// started catches up within a minute.
const MAX_DELAY: TimeDelta = TimeDelta::minutes(10);

pub async fn check(butler: &Butler, serving: bool) -> Option<Check> {
    let jobs = butler.jobs().await?;
    Some(match read(&jobs).await {
        Ok((schedules, runs)) => assess(butler, jobs.memory(), &schedules, &runs, serving),
        Err(error) => {
            let remedy = error.hint().unwrap_or_else(|| "see the server's log".to_owned());
            Check::failed(NAME, format!("{}: {error}", butler.name), remedy)
        }
    })
}

/// Checks whether jobs that delete or expire memories wait because the time is in doubt.
pub async fn clock(butler: &Butler) -> Option<Check> {
    const NAME: &str = "clock";
    let memory = butler.memory().await?;
    if let Err(error) = memory.watch_clock().await {
        return Some(Check::failed(NAME, format!("{}: {error}", butler.name), "see the check of the database"));
    }
    Some(match memory.clock_doubt() {
        None => Check::passed(NAME, format!("{}: trusted", butler.name)),
        Some(reason) => {
            let detail = format!("{}: nothing is deleted or expired, because {reason}", butler.name);
            Check::warned(NAME, detail, butler_memory::CLOCK_HINT)
        }
    })
}

/// Warns if so many episodes wait to be learned from that the oldest will soon expire.
pub async fn unlearned(butler: &Butler) -> Option<Check> {
    let memory = butler.memory().await?;
    let mut conn = memory.db().owner().await.ok()?;
    let (tenant, unlearned) = memory.many_unlearned(&mut conn, None).await.ok()?.into_iter().next()?;
    let max = memory.config().episodes.max_unlearned;
    let detail = format!(
        "{}: {unlearned} episodes of the tenant {tenant} were not consolidated; beyond {max} the oldest expire",
        butler.name
    );
    let remedy = "configure an LLM in [butler.runtime], requeue dead letters (`butler jobs dead-letters requeue`), or \
                  raise max_unlearned in [modules.memory.episodes]";
    Some(Check::warned("episodes", detail, remedy))
}

async fn read(jobs: &Jobs) -> Result<(Vec<ScheduleRow>, Vec<RunRow>), StoreError> {
    let mut conn = jobs.memory().db().owner().await?;
    let schedules = records::schedules(&mut conn).await?;
    let mut runs = Vec::new();
    // The backups check reports failed backups.
    for job in jobs.specs().iter().filter(|job| !jobs.is_host_job(job.name)) {
        runs.extend(records::runs(&mut conn, Some(job.name), None, 1).await?);
    }
    Ok((schedules, runs))
}

fn assess(butler: &Butler, memory: &Memory, schedules: &[ScheduleRow], runs: &[RunRow], serving: bool) -> Check {
    let name = &butler.name;
    if schedules.is_empty() {
        return Check::skipped(NAME, format!("{name}: created by the first `butler serve`"));
    }
    let waits = |job: &ScheduleRow| memory.clock_doubt().is_some() && waits_for_clock(&job.job);
    if let Some(job) = schedules.iter().find(|job| serving && is_late(job, memory.now()) && !waits(job)) {
        let detail = format!("{name}: {} was due at {}", job.job, format_time(job.next_run_at));
        return Check::failed(NAME, detail, format!("run it manually: butler jobs run {}", job.job));
    }
    if let Some(run) = runs.iter().find(|run| run.status == "failed") {
        let reason = run.error.as_deref().unwrap_or("no reason was recorded");
        let detail = format!("{name}: the last run of {} failed: {reason}", run.job);
        return Check::warned(NAME, detail, format!("fix the cause, then run: butler jobs run {}", run.job));
    }
    let configured = butler.config.file.butler.runtime.is_some();
    match memory.runtime() {
        None if configured => Check::warned(
            NAME,
            format!("{name}: the LLM of [butler.runtime] is not usable, so consolidation only counts episodes"),
            "start `butler serve` and see its log for the reason",
        ),
        None => {
            Check::passed(NAME, format!("{name}: on time; no LLM is configured, so consolidation only counts episodes"))
        }
        Some(runtime) => Check::passed(NAME, format!("{name}: on time; consolidation uses {}", runtime.describe())),
    }
}

fn is_late(job: &ScheduleRow, now: Timestamp) -> bool {
    job.enabled && job.next_run_at.is_some_and(|due| due + MAX_DELAY < now)
}

fn format_time(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "an unknown time".to_owned(), |time| time.format("%Y-%m-%d %H:%M UTC").to_string())
}
