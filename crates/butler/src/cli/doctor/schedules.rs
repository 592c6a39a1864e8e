//! Do the workers run when they should.

use butler_domain::Timestamp;
use butler_host::butler::Butler;
use butler_host::scheduler::Jobs;
use butler_memory::Memory;
use butler_store::StoreError;
use butler_store::jobs::{self as records, RunRow, ScheduleRow};
use chrono::TimeDelta;

use super::check::Check;

const NAME: &str = "schedules";
/// A running server is at most some seconds late; one that just started catches up within a minute.
const LATE: TimeDelta = TimeDelta::minutes(10);

pub async fn check(butler: &Butler, serving: bool) -> Option<Check> {
    let jobs = butler.jobs().await?;
    Some(match look(&jobs).await {
        Ok((schedules, runs)) => judge(butler, jobs.memory(), &schedules, &runs, serving),
        Err(error) => {
            let remedy = error.hint().unwrap_or_else(|| "look into the server's log".to_owned());
            Check::failed(NAME, format!("{}: {error}", butler.name), remedy)
        }
    })
}

async fn look(jobs: &Jobs) -> Result<(Vec<ScheduleRow>, Vec<RunRow>), StoreError> {
    let mut conn = jobs.memory().db().owner().await?;
    let schedules = records::schedules(&mut conn).await?;
    let mut runs = Vec::new();
    // A backup that failed is told of among the backups.
    for job in jobs.specs().iter().filter(|job| !jobs.is_host_job(job.name)) {
        runs.extend(records::runs(&mut conn, Some(job.name), None, 1).await?);
    }
    Ok((schedules, runs))
}

fn judge(butler: &Butler, memory: &Memory, schedules: &[ScheduleRow], runs: &[RunRow], serving: bool) -> Check {
    let name = &butler.name;
    if schedules.is_empty() {
        return Check::skipped(NAME, format!("{name}: they begin with the first `butler serve`"));
    }
    if let Some(job) = schedules.iter().find(|job| serving && is_late(job, memory.now())) {
        let detail = format!("{name}: {} was due at {}", job.job, shown(job.next_run_at));
        return Check::failed(NAME, detail, format!("run it by hand: butler jobs run {}", job.job));
    }
    if let Some(run) = runs.iter().find(|run| run.status == "failed") {
        let why = run.error.as_deref().unwrap_or("no reason was recorded");
        let detail = format!("{name}: the last {} failed: {why}", run.job);
        return Check::warned(NAME, detail, format!("put it right, then: butler jobs run {}", run.job));
    }
    let configured = butler.config.file.butler.runtime.is_some();
    match memory.runtime() {
        None if configured => Check::warned(
            NAME,
            format!("{name}: the LLM of [butler.runtime] cannot be used, so consolidation only counts"),
            "start `butler serve`: its log says why",
        ),
        None => Check::passed(NAME, format!("{name}: in time; no LLM is configured, so consolidation only counts")),
        Some(runtime) => Check::passed(NAME, format!("{name}: in time; consolidation by {}", runtime.describe())),
    }
}

fn is_late(job: &ScheduleRow, now: Timestamp) -> bool {
    job.enabled && job.next_run_at.is_some_and(|due| due + LATE < now)
}

fn shown(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "an unknown time".to_owned(), |time| time.format("%Y-%m-%d %H:%M UTC").to_string())
}
