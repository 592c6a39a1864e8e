//! `GET /api/jobs` and `POST /api/jobs/{job}/run`: scheduled jobs and their runs, and starting a job by hand.

use std::time::Duration;

use axum::http::StatusCode;
use butler_domain::Timestamp;
use butler_host::access::Right;
use butler_host::scheduler::{Jobs, RunError, Scheduler, Trigger, worker_name};
use butler_memory::browse::{JobRecord, RunRow};
use butler_memory::jobs::{CONSOLIDATION, JobRequest, REEMBED, RETRAIN_INDEXES};
use butler_memory::tool::ErrorCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::envelope::{List, Meta, Single, WithHome};
use super::error::ApiError;
use super::facts::ButlerQuery;
use super::fan_out::not_started;
use super::operation::{Operation, RequestContext, Verb};

/// A request waits this long for the job to finish; the job continues afterwards.
const WAIT: Duration = Duration::from_secs(20);
const SHOWN_RUNS: i64 = 10;

#[derive(Debug, Serialize, JsonSchema)]
pub struct JobItem {
    pub job: String,
    pub about: String,
    pub cron: String,
    pub time_zone: String,
    pub enabled: bool,
    /// Whether a run takes seconds at most and is safe at any time.
    pub cheap: bool,
    pub running: bool,
    pub last_run_at: Option<Timestamp>,
    pub next_run_at: Option<Timestamp>,
    /// The ten latest runs, newest first.
    pub runs: Vec<RunRow>,
}

pub struct ListJobs;

impl Operation for ListJobs {
    type Path = ();
    type Query = ButlerQuery;
    type Body = ();
    type Answer = List<WithHome<JobItem>>;

    const ID: &'static str = "listJobs";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/jobs";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "List the jobs of each butler with schedule, latest runs and next run.";
    const RIGHT: Right = Right::Read;

    async fn run(ctx: RequestContext, (): (), query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let replies = ctx
            .each(query.butler.as_deref(), |memory| {
                let ctx = ctx.clone();
                async move { list(&ctx, memory.butler().as_str()).await }
            })
            .await?;
        let mut all = Vec::new();
        for (home, jobs) in replies.parts {
            all.extend(jobs.into_iter().map(|item| WithHome { home: home.clone(), item }));
        }
        Ok(List::complete(all, replies.unavailable))
    }
}

/// Lists a butler's jobs. A caller whose token is restricted to one tenant does not see what a job did for other
/// tenants.
async fn list(ctx: &RequestContext, butler: &str) -> Result<Vec<JobItem>, ApiError> {
    let jobs = jobs_of(ctx, butler).await?;
    let specs = jobs.specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let records = ctx.browse(jobs.memory()).job_records(&names, ctx.restricted_to(), SHOWN_RUNS).await?;
    let mut items = Vec::new();
    for (spec, JobRecord { schedule, runs }) in specs.into_iter().zip(records) {
        let cheap = ![CONSOLIDATION, REEMBED, RETRAIN_INDEXES].contains(&spec.name) && !jobs.is_host_job(spec.name);
        items.push(JobItem {
            job: spec.name.to_owned(),
            about: spec.about.to_owned(),
            cron: spec.cron,
            time_zone: spec.time_zone,
            enabled: spec.enabled,
            cheap,
            running: runs.first().is_some_and(|run| run.status == "running"),
            last_run_at: schedule.as_ref().and_then(|row| row.last_run_at),
            next_run_at: schedule.and_then(|row| row.next_run_at).filter(|_| spec.enabled),
            runs,
        });
    }
    Ok(items)
}

async fn jobs_of(ctx: &RequestContext, butler: &str) -> Result<Jobs, ApiError> {
    let butler = ctx.butlers(Some(butler))?.into_iter().next();
    let butler = butler.ok_or_else(|| ApiError::unavailable("no butler has a memory module"))?;
    butler.jobs().await.ok_or_else(|| not_started(&butler))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct JobPath {
    /// `consolidation`, `decay_sweep`, `episode_cleanup`, `inversion`, `retrain_indexes`, `reembed` or, if backups are
    /// scheduled, `backup`.
    job: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunQuery {
    /// The butler whose job to run. Default: the first butler.
    butler: Option<String>,
    /// Only report what the job would do. Not supported by `retrain_indexes` and `backup`.
    dry_run: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct JobRun {
    pub job: String,
    /// `succeeded`, or `running` if the job has not finished after 20 seconds; `GET /api/jobs` then shows its outcome.
    pub status: &'static str,
    /// What the job did; null while it is running.
    pub result: Option<Value>,
    pub took_ms: Option<u64>,
}

pub struct RunJob;

impl Operation for RunJob {
    type Path = JobPath;
    type Query = RunQuery;
    type Body = ();
    type Answer = Single<WithHome<JobRun>>;

    const ID: &'static str = "runJob";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/jobs/{job}/run";
    const TAG: &'static str = "jobs";
    const SUMMARY: &'static str = "Run a job now.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, path: JobPath, query: RunQuery, (): ()) -> Result<Self::Answer, ApiError> {
        let butler = ctx.butlers(query.butler.as_deref())?.into_iter().next();
        let butler = butler.ok_or_else(|| ApiError::unavailable("no butler has a memory module"))?;
        let jobs = jobs_of(&ctx, butler.name.as_str()).await?;
        let known: Vec<&str> = jobs.specs().iter().map(|spec| spec.name).collect();
        if !known.contains(&path.job.as_str()) {
            return Err(ApiError::not_found(format!("there is no job {:?}", path.job))
                .hint(format!("valid values: {}", known.join(", "))));
        }
        let tenant = ctx.restricted_to().cloned();
        if tenant.is_some() && jobs.is_host_job(&path.job) {
            let message = format!("{} affects all tenants, but the token is restricted to one", path.job);
            return Err(ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
                .hint(format!("run it on the server's machine: butler jobs run {}", path.job)));
        }
        let request = JobRequest { tenant, dry_run: query.dry_run.unwrap_or(false), ..JobRequest::default() };
        let (scheduler, job) = (Scheduler::new(jobs, worker_name()), path.job.clone());
        let running = tokio::spawn(async move { scheduler.run_now(&job, Trigger::Manual, request).await });
        let item = match tokio::time::timeout(WAIT, running).await {
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
        Ok(Single { data: WithHome { home: butler.name.to_string(), item }, meta: Meta::default() })
    }
}

fn refused(error: RunError) -> ApiError {
    match error {
        RunError::Busy { .. } => ApiError::new(StatusCode::CONFLICT, ErrorCode::Conflict, error.to_string())
            .hint("wait until the running job has finished; GET /api/jobs shows its state"),
        RunError::Memory(error) => error.into(),
        RunError::Failed(reason) | RunError::Reported(reason) => failed(&reason),
    }
}

fn failed(reason: &str) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, format!("the job failed: {reason}"))
        .hint("GET /api/jobs and the server's log have the details")
}
