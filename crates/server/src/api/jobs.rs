//! `GET /api/jobs` and `POST /api/jobs/{job}/run`: the workers, when they run, and running one now.

use std::time::Duration;

use axum::http::StatusCode;
use butler_domain::Timestamp;
use butler_host::access::Right;
use butler_host::scheduler::{Jobs, RunError, Scheduler, Trigger, worker_name};
use butler_memory::jobs::{CONSOLIDATION, JobRequest, REEMBED, RETRAIN_INDEXES, visible_to};
use butler_memory::tool::ToolError;
use butler_store::jobs::{self as records, RunRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::{At, Many, Meta, One};
use super::error::ApiError;
use super::facts::In;
use super::operation::{Asked, Operation, Verb};
use super::reach::not_there;

/// A page waits this long for a job; it goes on without the page.
const PATIENCE: Duration = Duration::from_secs(20);
const SHOWN_RUNS: i64 = 10;

#[derive(Debug, Serialize, JsonSchema)]
pub struct JobItem {
    pub job: String,
    pub about: String,
    pub cron: String,
    pub time_zone: String,
    pub enabled: bool,
    /// It takes seconds at most and may be run at any time.
    pub cheap: bool,
    pub running: bool,
    pub last_run_at: Option<Timestamp>,
    pub next_run_at: Option<Timestamp>,
    /// The latest ten, newest first.
    pub runs: Vec<RunRow>,
}

pub struct ListJobs;

impl Operation for ListJobs {
    type Path = ();
    type Query = In;
    type Body = ();
    type Answer = Many<At<JobItem>>;

    const ID: &'static str = "listJobs";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/jobs";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "The jobs of each butler: schedule, last runs, next run.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), place: In, (): ()) -> Result<Self::Answer, ApiError> {
        let heard = asked
            .each(place.butler.as_deref(), |memory| {
                let asked = asked.clone();
                async move { list(&asked, memory.butler().as_str()).await }
            })
            .await?;
        let mut all = Vec::new();
        for (home, jobs) in heard.parts {
            all.extend(jobs.into_iter().map(|item| At { home: home.clone(), item }));
        }
        Ok(Many::whole(all, heard.unavailable))
    }
}

/// What the jobs did for others is not shown to a caller that a token binds to one tenant.
async fn list(asked: &Asked, butler: &str) -> Result<Vec<JobItem>, ApiError> {
    let jobs = jobs_of(asked, butler).await?;
    let mut conn = jobs.memory().db().owner().await?;
    let schedules = records::schedules(&mut conn).await?;
    let mut items = Vec::new();
    for spec in jobs.specs() {
        let schedule = schedules.iter().find(|row| row.job == spec.name);
        let runs = records::runs(&mut conn, Some(spec.name), asked.bound(), SHOWN_RUNS).await?;
        let runs: Vec<RunRow> = runs.into_iter().map(|run| visible_to(run, asked.bound())).collect();
        let cheap = ![CONSOLIDATION, REEMBED, RETRAIN_INDEXES].contains(&spec.name) && !jobs.is_of_the_host(spec.name);
        items.push(JobItem {
            job: spec.name.to_owned(),
            about: spec.about.to_owned(),
            cron: spec.cron,
            time_zone: spec.time_zone,
            enabled: spec.enabled,
            cheap,
            running: runs.first().is_some_and(|run| run.status == "running"),
            last_run_at: schedule.and_then(|row| row.last_run_at),
            next_run_at: schedule.and_then(|row| row.next_run_at).filter(|_| spec.enabled),
            runs,
        });
    }
    Ok(items)
}

async fn jobs_of(asked: &Asked, butler: &str) -> Result<Jobs, ApiError> {
    let butler = asked.butlers(Some(butler))?.into_iter().next();
    let butler = butler.ok_or_else(|| ApiError::unavailable("there is no butler with a memory"))?;
    butler.jobs().await.ok_or_else(|| not_there(&butler))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ByName {
    /// `consolidation`, `decay_sweep`, `episode_cleanup`, `inversion`, `retrain_indexes`, `reembed` or `backup` (if scheduled).
    job: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct How {
    /// Whose job; the first butler's if left out.
    butler: Option<String>,
    /// Only tell what would be done; of every job but `retrain_indexes`.
    dry_run: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct JobRun {
    pub job: String,
    /// `succeeded`, or `running` if it takes longer than a page waits: `GET /api/jobs` tells how it ends.
    pub status: &'static str,
    /// What it did.
    pub result: Option<Value>,
    pub took_ms: Option<u64>,
}

pub struct RunJob;

impl Operation for RunJob {
    type Path = ByName;
    type Query = How;
    type Body = ();
    type Answer = One<At<JobRun>>;

    const ID: &'static str = "runJob";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/jobs/{job}/run";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "Run a job now.";
    const RIGHT: Right = Right::Admin;

    async fn run(asked: Asked, path: ByName, how: How, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = asked.butlers(how.butler.as_deref())?.into_iter().next();
        let butler = butler.ok_or_else(|| ApiError::unavailable("there is no butler with a memory"))?;
        let jobs = jobs_of(&asked, butler.name.as_str()).await?;
        let known: Vec<&str> = jobs.specs().iter().map(|spec| spec.name).collect();
        if !known.contains(&path.job.as_str()) {
            return Err(ApiError::not_found(format!("there is no job {:?}", path.job))
                .hint(format!("valid are {}", known.join(", "))));
        }
        let tenant = asked.bound().cloned();
        if tenant.is_some() && jobs.is_of_the_host(&path.job) {
            let message = format!("{} is of all tenants, and a token is of one", path.job);
            return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
                .hint(format!("on the server's machine: butler jobs run {}", path.job)));
        }
        let request = JobRequest { tenant, dry_run: how.dry_run.unwrap_or(false), ..JobRequest::default() };
        let (scheduler, job) = (Scheduler::new(jobs, worker_name()), path.job.clone());
        let running = tokio::spawn(async move { scheduler.run_now(&job, Trigger::Manual, request).await });
        let item = match tokio::time::timeout(PATIENCE, running).await {
            Err(_) => JobRun { job: path.job, status: "running", result: None, took_ms: None },
            Ok(Err(error)) => return Err(failed(&error.to_string())),
            Ok(Ok(Err(error))) => return Err(refused(error)),
            Ok(Ok(Ok(finished))) => JobRun {
                job: path.job,
                status: "succeeded",
                result: Some(finished.result),
                took_ms: u64::try_from(finished.took.as_millis()).ok(),
            },
        };
        Ok(One { data: At { home: butler.name.to_string(), item }, meta: Meta::default() })
    }
}

fn refused(error: RunError) -> ApiError {
    match error {
        RunError::Busy { .. } => ApiError::new(StatusCode::CONFLICT, ToolError::CONFLICT, error.to_string())
            .hint("wait until it is done; GET /api/jobs tells when"),
        RunError::Memory(error) => error.into(),
        RunError::Failed(reason) => failed(&reason),
    }
}

fn failed(reason: &str) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ToolError::INTERNAL, format!("the job failed: {reason}"))
        .hint("GET /api/jobs and the server's log hold the details")
}
