//! `butler why` shows what a session was given.

use butler_domain::text::flatten_line;
use butler_host::error::HostError;
use butler_memory::browse::{InjectedMemory, Injection, InjectionFilter, Listed, Page, ServedBy};
use serde_json::json;

use super::Settings;
use super::opened_butler::OpenedButler;
use crate::printer::{Colour, Printer};

/// Show which memories a session was given, call by call
///
/// The session id is that of the agent, as its hooks and `butler run --json` report it, or request_context.session_id of the
/// calls. The text of a memory is its present one. Calls are kept for [modules.memory] injections_retention_days.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler why 0b8a2f3e-6a55-4c39-9a0e-3f1d2c4b5a69\n  \
    butler why 0b8a2f3e-6a55-4c39-9a0e-3f1d2c4b5a69 --limit 1 --json")]
pub struct Args {
    /// Id of the session
    session: String,
    /// Maximum number of calls, the latest first
    #[arg(short = 'n', long, value_name = "NUMBER", default_value = "100")]
    limit: u32,
    /// Print the calls as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let tenant = settings.tenant.clone().unwrap_or_default();
    let filter = InjectionFilter { session: Some(args.session.trim().to_owned()), memory: None };
    let browse = opened.memory.browse(&tenant, opened.memory.now());
    let found = browse.injections(&filter, Page::first(i64::from(args.limit))).await;
    let found = opened.close(found.map_err(|error| HostError::Tool(error.into()))).await?;
    if args.json {
        printer.json(&json!({"session_id": args.session.trim(), "total": found.total, "injections": found.rows}));
    } else {
        print(&found, printer);
    }
    Ok(())
}

fn print(found: &Listed<Injection>, printer: Printer) {
    if found.rows.is_empty() {
        return printer.note("nothing is recorded of this session");
    }
    // In the order in which the session got it.
    for call in found.rows.iter().rev() {
        let kind = match call.kind {
            ServedBy::Context => "context",
            ServedBy::Recall => "recall",
            ServedBy::Search => "search",
        };
        let by = [call.actor.as_deref(), call.request_id.as_deref()].into_iter().flatten().map(flatten_line);
        let by = by.collect::<Vec<_>>().join("  ");
        let at = call.served_at.format("%Y-%m-%d %H:%M:%S");
        printer.line(format_args!("{at}  {}  {by}", printer.on_out(kind, Colour::Cyan)));
        if call.memories.is_empty() {
            printer.line(printer.on_out("    nothing", Colour::Dim));
        }
        for memory in &call.memories {
            print_memory(memory, printer);
        }
    }
    let older = found.total - i64::try_from(found.rows.len()).unwrap_or(i64::MAX);
    if older > 0 {
        printer.note(format_args!("{older} older calls are left out; see more with --limit"));
    }
}

fn print_memory(memory: &InjectedMemory, printer: Printer) {
    let score = memory.score.map_or_else(|| "     ".to_owned(), |score| format!("{score:.3}"));
    let kind = format!("{:<7}", memory.memory_type.as_str());
    let text = match (&memory.label, memory.state.as_deref()) {
        (Some(label), Some("active")) => flatten_line(label),
        (Some(label), state) => format!("{} ({})", flatten_line(label), state.unwrap_or_default()),
        (None, _) => "gone".to_owned(),
    };
    let id = memory.id.map(|id| format!("  {id}")).unwrap_or_default();
    printer.line(format_args!("  {:>3}  {score}  {kind}  {text}{}", memory.rank, printer.on_out(&id, Colour::Dim)));
}
