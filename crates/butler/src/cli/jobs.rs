//! `butler jobs` lists and runs the background jobs.

use std::io::IsTerminal;
use std::sync::Arc;

use butler_domain::{EpisodeId, TenantId, Timestamp};
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::create_data_dir;
use butler_host::scheduler::{Jobs, RunError, Scheduler, Trigger, worker_name};
use butler_memory::jobs::JobRequest;
use butler_memory::{Call, Memory, MemoryError};
use butler_store::jobs::{self as records, RunRow, ScheduleRow};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::serve::Signals;
use super::verbs::pairs;
use super::{Settings, counted};
use crate::printer::Printer;
use crate::progress;

/// Number of runs of each job that `list` shows.
const SHOWN_RUNS: i64 = 1;
/// Maximum number of dead letters that `dead-letters list` shows.
const SHOWN_LETTERS: i64 = 1000;

/// List and run the background jobs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  butler jobs list\n  butler jobs run consolidation --dry-run\n  butler jobs dead-letters requeue"
)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all jobs with their schedules, last runs and next runs
    #[command(after_help = "Examples:\n  butler jobs list --json")]
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a job now: consolidation, decay_sweep, episode_cleanup, conflicts, inversion, retrain_indexes,
    /// reembed, backup
    ///
    /// Runs for all tenants, or only for --tenant; a backup always covers all tenants. The job `backup` exists if
    /// [butler.backup] has a schedule. Fails if the job is already running elsewhere.
    #[command(after_help = "Examples:\n  \
        butler jobs run consolidation --dry-run     count what would be consolidated\n  \
        butler jobs run decay_sweep --dry-run       count what would fade or expire\n  \
        butler jobs run episode_cleanup --tenant ann --json")]
    Run {
        /// Name of the job
        job: String,
        /// Count what would change, and write nothing
        #[arg(long)]
        dry_run: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Accept the present time after the clock jumped
    ///
    /// After a jump, jobs that delete or expire memories wait until the clock is right or has been steady for an hour.
    /// This command ends the wait, also for a running server. Check the clock first: with a wrong one, memories expire.
    #[command(after_help = "Examples:\n  date -u && butler jobs accept-clock")]
    AcceptClock {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List and requeue episodes that could not be consolidated
    #[command(after_help = "Examples:\n  butler jobs dead-letters list\n  butler jobs dead-letters requeue")]
    DeadLetters {
        #[command(subcommand)]
        command: Option<DeadLetterCommand>,
        /// Print the result as JSON
        #[arg(long, global = true)]
        json: bool,
    },
}

#[derive(Debug, clap::Subcommand)]
enum DeadLetterCommand {
    /// List dead letters, oldest first
    #[command(after_help = "Examples:\n  butler jobs dead-letters list --tenant ann --json")]
    List,
    /// Requeue dead letters for consolidation
    #[command(after_help = "Examples:\n  \
        butler jobs dead-letters requeue                    requeue all\n  \
        butler jobs dead-letters requeue 01980c5e-7d5e-7c3a-9f00-5a2b8f0c1d2e --json")]
    Requeue {
        /// Ids of the episodes [default: all]
        ids: Vec<EpisodeId>,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    create_data_dir(&settings.host.data_dir)?;
    // Start this butler only, without the model: a job that embeds loads it on first use.
    host.start_one(&butler, false, progress::on_stderr(settings.quiet)).await?;
    let stop = CancellationToken::new();
    let outcome = match butler.jobs().await {
        Some(jobs) => {
            let command = dispatch(args.command, settings.tenant.clone(), jobs, stop.clone(), printer);
            tokio::pin!(command);
            tokio::select! {
                outcome = &mut command => outcome,
                // The job releases the episodes it has claimed before the process exits.
                () = signals.any() => { stop.cancel(); command.await }
            }
        }
        None => Err(HostError::Failed(format!(
            "butler {:?} has no memory module: enable it in butler.toml",
            butler.name.as_str()
        ))),
    };
    let stopped = host.stop().await;
    outcome.and(stopped)
}

async fn dispatch(
    command: Command,
    tenant: Option<TenantId>,
    jobs: Jobs,
    stop: CancellationToken,
    printer: Printer,
) -> Result<(), HostError> {
    let memory = Arc::clone(jobs.memory());
    match command {
        Command::List { json } => list(&jobs, json, printer).await,
        Command::Run { job, dry_run, json } => {
            let request = JobRequest { tenant, dry_run, stop, progress: None };
            run_job(jobs, &job, request, json, printer).await
        }
        Command::AcceptClock { json } => accept_clock(&memory, json, printer).await,
        Command::DeadLetters { command, json } => {
            let call = Call::internal(&memory, tenant.unwrap_or_default(), "cli");
            dead_letters(&memory, &call, command.unwrap_or(DeadLetterCommand::List), json, printer).await
        }
    }
}

async fn accept_clock(memory: &Memory, json: bool, printer: Printer) -> Result<(), HostError> {
    let (now, doubt) = memory.accept_clock().await.map_err(failed)?;
    if json {
        printer.json(&json!({"accepted": now, "doubt": doubt}));
        return Ok(());
    }
    let now = now.format("%Y-%m-%d %H:%M:%SZ");
    match doubt {
        Some(reason) => printer.line(format_args!("accepted {now}; the jobs no longer wait ({reason})")),
        None => printer.line(format_args!("accepted {now}; it was not in doubt")),
    }
    Ok(())
}

async fn list(jobs: &Jobs, json: bool, printer: Printer) -> Result<(), HostError> {
    let memory = jobs.memory();
    let (schedules, runs) = read(jobs).await.map_err(failed)?;
    let rows: Vec<(_, Option<&ScheduleRow>, Option<&RunRow>)> = jobs
        .specs()
        .into_iter()
        .map(|spec| {
            let schedule = schedules.iter().find(|row| row.job == spec.name);
            let run = runs.iter().find(|row| row.job == spec.name);
            (spec, schedule, run)
        })
        .collect();
    if json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(spec, schedule, run)| {
                json!({"job": spec.name, "about": spec.about, "cron": spec.cron, "time_zone": spec.time_zone,
                       "enabled": spec.enabled, "next_run_at": schedule.and_then(|row| row.next_run_at),
                       "last_run_at": schedule.and_then(|row| row.last_run_at), "last_run": run})
            })
            .collect();
        printer.json(&json!({"jobs": rows, "runtime": memory.runtime().map(|runtime| runtime.describe())}));
        return Ok(());
    }
    printer.line(format_args!("{:<16} {:<16} {:<20} {:<20} {}", "job", "schedule", "next", "last", "outcome"));
    for (spec, schedule, run) in rows {
        let next = if spec.enabled { at(schedule.and_then(|row| row.next_run_at)) } else { "disabled".to_owned() };
        let last = at(schedule.and_then(|row| row.last_run_at));
        let outcome = run.map_or_else(|| "never ran".to_owned(), outcome_of);
        printer.line(format_args!("{:<16} {:<16} {next:<20} {last:<20} {outcome}", spec.name, spec.cron));
    }
    memory.watch_clock().await.map_err(failed)?;
    if let Some(reason) = memory.clock_doubt() {
        let hint = butler_memory::CLOCK_HINT;
        printer.note(format_args!("decay_sweep and episode_cleanup wait, because {reason}: {hint}"));
    }
    if memory.runtime().is_none() {
        printer
            .note("no LLM is configured, so consolidation only counts episodes: add [butler.runtime] to butler.toml");
    }
    Ok(())
}

async fn read(jobs: &Jobs) -> Result<(Vec<ScheduleRow>, Vec<RunRow>), MemoryError> {
    let mut conn = jobs.memory().db().owner().await?;
    let schedules = records::schedules(&mut conn).await?;
    let mut runs = Vec::new();
    for spec in jobs.specs() {
        runs.extend(records::runs(&mut conn, Some(spec.name), None, SHOWN_RUNS).await?);
    }
    Ok((schedules, runs))
}

fn at(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| time.format("%Y-%m-%d %H:%MZ").to_string())
}

fn outcome_of(run: &RunRow) -> String {
    let took = run.finished_at.map(|end| (end - run.started_at).num_milliseconds());
    match (run.status.as_str(), &run.error, took) {
        ("failed", Some(error), _) => format!("failed: {error}"),
        (status, _, Some(took)) => format!("{status} in {took} ms ({})", run.trigger),
        (status, ..) => status.to_owned(),
    }
}

async fn run_job(
    jobs: Jobs,
    job: &str,
    mut request: JobRequest,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    let bar = bar(job);
    if let Some(bar) = bar.clone() {
        request.progress = Some(Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        }));
    }
    let scheduler = Scheduler::new(jobs, worker_name());
    let finished = scheduler.run_now(job, Trigger::Manual, request).await;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let finished = finished.map_err(|error| match error {
        RunError::Memory(error) => HostError::Tool(error.into()),
        error => HostError::Failed(error.to_string()),
    })?;
    if json {
        printer.json(&finished.result);
        return Ok(());
    }
    let outcome = if finished.result["mode"] == "dry_run" { "dry run" } else { "completed" };
    printer.line(format_args!("{job} {outcome} in {} ms", finished.took.as_millis()));
    print_counts("", &finished.result, &mut |line| printer.line(line));
    Ok(())
}

/// Prints all texts and all counts that are not zero.
fn print_counts(prefix: &str, value: &Value, print: &mut dyn FnMut(String)) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        match value {
            Value::Object(_) => print_counts(&format!("{prefix}{key}."), value, print),
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) => print(format!("  {prefix}{key}: {text}")),
                        Value::Object(fields) => print(format!("  {prefix}{key}: {}", pairs(fields))),
                        item => print(format!("  {prefix}{key}: {item}")),
                    }
                }
            }
            Value::Null => {}
            Value::Number(number) if number.as_f64() == Some(0.0) => {}
            Value::String(text) => print(format!("  {prefix}{key}: {text}")),
            other => print(format!("  {prefix}{key}: {other}")),
        }
    }
}

fn bar(job: &str) -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(0).with_message(job.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    Some(bar)
}

async fn dead_letters(
    memory: &Memory,
    call: &Call,
    command: DeadLetterCommand,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    match command {
        DeadLetterCommand::Requeue { ids } => {
            let selected = (!ids.is_empty()).then_some(ids.as_slice());
            let count = memory.requeue_dead_letters(call, selected).await.map_err(failed)?;
            if json {
                printer.json(&json!({"requeued": count}));
            } else {
                printer.line(format_args!("requeued {}", counted(count, "episode")));
            }
        }
        DeadLetterCommand::List => {
            let letters = memory.dead_letters(call, SHOWN_LETTERS).await.map_err(failed)?;
            if json {
                printer.json(&letters);
                return Ok(());
            }
            if letters.is_empty() {
                printer.line("no dead letters");
            }
            for letter in letters {
                let error = letter.error.as_deref().unwrap_or("no reason was recorded");
                printer.line(format_args!("{}  {}  {}", letter.id, at(Some(letter.created_at)), letter.butler));
                printer.line(format_args!("  {}, last error: {error}", counted(letter.attempts, "attempt")));
                printer.line(format_args!("  {}", butler_domain::text::flatten_line(&letter.excerpt)));
            }
        }
    }
    Ok(())
}

fn failed(error: MemoryError) -> HostError {
    HostError::Tool(error.into())
}
