//! `butler doctor` checks everything a server needs and reports how to fix what is missing.

mod access;
mod backups;
mod check;
mod database;
mod hooks;
mod llm;
mod local;
mod oauth;
mod roundtrip;
mod schedules;

use std::sync::Arc;

use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::{self, create_data_dir};
use serde_json::json;

use self::check::{Check, Verdict};
use super::Settings;
use crate::printer::{Colour, Printer};

/// Check the installation and report how to fix problems
///
/// Checks disk, runtime, model, port, LLM, TLS, OAuth, hooks, spool, backups, database, extensions, indexes, clock,
/// schedules, tokens, and a live call over MCP. Does not change stored data and does not migrate. Exits with code 1 if a check
/// fails; each failure names its remedy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler doctor\n  butler doctor --json")]
pub struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let checks = run_checks(settings).await?;
    let failed = checks.iter().filter(|check| check.verdict == Verdict::Failed).count();
    if args.json {
        printer.json(&json!({"healthy": failed == 0, "checks": checks}));
    } else {
        checks.iter().for_each(|check| show(check, printer));
    }
    if failed == 0 { Ok(()) } else { Err(HostError::Unhealthy(failed)) }
}

async fn run_checks(settings: &Settings) -> Result<Vec<Check>, HostError> {
    let host = Host::new(settings.host.clone())?;
    let serving = instance::running(&settings.host.data_dir);
    let mut checks = vec![match create_data_dir(&settings.host.data_dir) {
        Ok(()) => local::disk(&settings.host.data_dir),
        Err(error) => Check::from_error("disk", &error),
    }];
    checks.push(local::runtime(settings).await);
    checks.push(local::model(&host).await);
    checks.push(local::port(settings.listen, serving.as_ref()).await);
    checks.extend(host.butlers().iter().map(|butler| llm::check(butler)));
    let configs: Vec<_> = host.butlers().iter().map(|butler| butler.config.clone()).collect();
    checks.push(access::tls(&configs, serving.as_ref()));
    checks.push(oauth::check(&host, serving.as_ref()).await);
    checks.push(hooks::check());
    checks.push(local::spool(&settings.host.data_dir));
    let now = host.clock().now();
    checks.extend(host.butlers().iter().map(|butler| backups::check(&host, butler, now)));
    // Starting the host would download what is missing, and `doctor` only checks.
    if checks.iter().any(|check| check.verdict == Verdict::Failed && check.blocks_start()) {
        checks.extend(
            ["database", "extensions", "indexes", "clock", "schedules", "tokens", "mcp"]
                .map(|name| Check::skipped(name, "skipped because an earlier check failed")),
        );
    } else {
        let outdated = database::outdated(&host).await;
        // Before the butlers start, because that removes them.
        for butler in host.butlers() {
            checks.extend(backups::leftovers(&host, &butler).await);
        }
        if outdated.is_empty() {
            checks.extend(database::all(&host).await);
            for butler in host.butlers() {
                checks.extend(schedules::clock(&butler).await);
                checks.extend(schedules::check(&butler, serving.is_some()).await);
                checks.extend(schedules::unlearned(&butler).await);
                checks.extend(backups::last_run(&butler).await);
                checks.extend(access::tokens(&butler, now).await);
            }
            checks.push(roundtrip::check(Arc::clone(&host), serving).await);
        } else {
            checks.extend(outdated);
            checks.extend(
                ["extensions", "indexes", "clock", "schedules", "tokens", "mcp"]
                    .map(|name| Check::skipped(name, "skipped because migrations are pending")),
            );
        }
        if let Err(error) = host.stop().await {
            checks.push(Check::from_error("stop", &error));
        }
    }
    Ok(checks)
}

fn show(check: &Check, printer: Printer) {
    let (mark, colour) = match check.verdict {
        Verdict::Passed => ("ok  ", Colour::Green),
        Verdict::Warned => ("warn", Colour::Yellow),
        Verdict::Failed => ("FAIL", Colour::Red),
        Verdict::Skipped => ("skip", Colour::Dim),
    };
    printer.line(format_args!("{} {:<10} {}", printer.on_out(mark, colour), check.name, check.detail));
    if let Some(remedy) = &check.remedy {
        printer.line(format_args!("                remedy: {remedy}"));
    }
}
