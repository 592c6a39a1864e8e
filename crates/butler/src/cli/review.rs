//! `butler review` decides about what waits for approval; `butler tombstones` about what must not be learned again.

use butler_domain::Source;
use butler_domain::text::flatten_line;
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::browse::{Page, Tombstone};
use butler_memory::{Call, MemoryError};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Settings;
use super::opened_butler::OpenedButler;
use crate::printer::{Colour, Printer};

/// The most rows that a list shows.
const SHOWN: i64 = 1000;

/// Decide about facts and rules from untrusted text
///
/// Facts and rules that are derived from untrusted text (web pages, output of tools) wait here until a person approves
/// them. So do untrusted episodes that look like instructions: nothing is learned from them before.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler review                        list what waits for a decision\n  \
    butler review approve ID ID\n  \
    butler review reject ID              it is never proposed again\n  \
    butler review undo ID                it waits for a decision again")]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List what waits, oldest first
    #[command(after_help = "Examples:\n  butler review list --json")]
    List,
    /// Let facts and rules take effect, and consolidate episodes
    #[command(after_help = "Examples:\n  butler review approve ID ID")]
    Approve {
        /// Ids of proposals
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Uuid>,
    },
    /// Reject proposals for good, and forget episodes
    #[command(after_help = "Examples:\n  butler review reject ID")]
    Reject {
        /// Ids of proposals
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Uuid>,
    },
    /// Undo approvals and rejections, so that the proposals wait for a decision again
    #[command(after_help = "Examples:\n  butler review undo ID")]
    Undo {
        /// Ids of proposals
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Uuid>,
    },
}

/// Show what was forgotten and is not learned again
///
/// A fact or rule that was forgotten is not learned again from old conversations or an import, in the same or in other
/// words. What was erased leaves only a hash.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler tombstones                    list what was forgotten\n  \
    butler tombstones --suppressed       only what came again\n  \
    butler tombstones allow ID           let it be learned again")]
pub struct TombstoneArgs {
    #[command(subcommand)]
    command: Option<TombstoneCommand>,
    /// Only what came again and was not stored
    #[arg(long)]
    suppressed: bool,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum TombstoneCommand {
    /// Let something that was forgotten or erased be learned again
    #[command(after_help = "Examples:\n  butler tombstones allow ID")]
    Allow {
        /// Ids of forgotten memories or tombstones
        #[arg(required = true, value_name = "ID")]
        ids: Vec<Uuid>,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let outcome = review(&args, &opened, settings, printer).await;
    opened.close(outcome).await
}

pub async fn run_tombstones(args: TombstoneArgs, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let outcome = tombstones(&args, &opened, settings, printer).await;
    opened.close(outcome).await
}

fn call(opened: &OpenedButler, settings: &Settings) -> Call {
    let tenant = settings.tenant.clone().unwrap_or_default();
    Call { source: Source::Person, ..Call::internal(&opened.memory, tenant, CLI_ACTOR) }
}

async fn review(args: &Args, opened: &OpenedButler, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let (memory, call) = (&opened.memory, call(opened, settings));
    let ids = match &args.command {
        None | Some(Command::List) => {
            let listed = memory.proposals(&call, Page::first(SHOWN)).await.map_err(failed)?;
            if args.json {
                printer.json(&json!({"proposals": listed.rows, "total": listed.total}));
                return Ok(());
            }
            for proposal in &listed.rows {
                let parts = [proposal.subject.as_deref(), proposal.predicate.as_deref(), Some(&proposal.content[..])];
                let text: Vec<String> = parts.into_iter().flatten().map(flatten_line).collect();
                printer.line(format_args!(
                    "{}  {}  {}",
                    proposal.id,
                    printer.on_out(&format!("{:7}", proposal.memory_type), Colour::Dim),
                    text.join(" · ")
                ));
                for reason in &proposal.reasons {
                    printer.line(printer.on_out(&format!("    {}", flatten_line(&reason.to_string())), Colour::Yellow));
                }
            }
            if listed.rows.is_empty() {
                printer.note("nothing waits for approval");
            }
            return Ok(());
        }
        Some(Command::Approve { ids } | Command::Reject { ids } | Command::Undo { ids }) => ids,
    };
    let mut done = Vec::new();
    for id in ids {
        let decided = match &args.command {
            Some(Command::Approve { .. }) => memory.approve(&call, *id).await,
            Some(Command::Reject { .. }) => memory.reject(&call, *id).await,
            // An episode that was never held has no decision to undo.
            _ if !memory.has_decision(&call, *id).await.map_err(failed)? => Ok(None),
            _ => memory.undo_decision(&call, *id).await,
        };
        let decided = decided.map_err(failed)?.ok_or_else(|| unknown("proposal", *id))?;
        if !args.json {
            let outcome = match (&decided.state[..], decided.changed) {
                ("open", true) => "waits again:",
                ("open", false) => "was not decided:",
                (state, true) => state,
                (_, false) => "was decided before:",
            };
            // After an undo, the proposal of an approved fact has a new id.
            printer.line(format_args!("{outcome} {}", decided.id));
        }
        done.push(json!(decided));
    }
    print_all(args.json, &done, printer);
    Ok(())
}

async fn tombstones(
    args: &TombstoneArgs,
    opened: &OpenedButler,
    settings: &Settings,
    printer: Printer,
) -> Result<(), HostError> {
    let (memory, call) = (&opened.memory, call(opened, settings));
    let Some(TombstoneCommand::Allow { ids }) = &args.command else {
        let mut listed = memory.tombstones(&call, false, Page::first(SHOWN)).await.map_err(failed)?;
        if args.suppressed {
            // The list starts with these, including those that are allowed again, which the inbox leaves out.
            listed.rows.retain(|stone| stone.suppressed > 0);
            listed.total = listed.rows.len() as i64;
        }
        if args.json {
            printer.json(&json!({"tombstones": listed.rows, "total": listed.total}));
            return Ok(());
        }
        for stone in &listed.rows {
            let text = stone.text.as_deref().map_or_else(|| "(erased)".to_owned(), flatten_line);
            let kind = printer.on_out(&format!("{:5}", stone.memory_type), Colour::Dim);
            printer.line(format_args!(
                "{}  {kind}  {text}  {}",
                stone.id,
                printer.on_out(&history(stone), Colour::Dim)
            ));
        }
        if listed.rows.is_empty() {
            printer.note("nothing was forgotten");
        }
        return Ok(());
    };
    let mut done = Vec::new();
    for id in ids {
        let allowed = memory.allow_again(&call, *id).await.map_err(failed)?;
        let allowed = allowed.ok_or_else(|| unknown("forgotten memory", *id))?;
        if !args.json {
            printer
                .line(format_args!("{} {id}", if allowed.changed { "allowed again" } else { "was allowed before:" }));
        }
        done.push(json!(allowed));
    }
    print_all(args.json, &done, printer);
    Ok(())
}

/// When the memory was forgotten or erased, and what happened since. Memories that were erased together show the same time.
fn history(stone: &Tombstone) -> String {
    let verb = if stone.text.is_some() { "forgotten" } else { "erased" };
    let mut history = format!("{verb} {}", stone.forgotten_at.format("%Y-%m-%d %H:%M:%S"));
    match stone.suppressed {
        0 => {}
        1 => history.push_str(", came again once"),
        times => history.push_str(&format!(", came again {times} times")),
    }
    if stone.allowed_at.is_some() {
        history.push_str(", allowed again");
    }
    history
}

fn print_all(as_json: bool, done: &[Value], printer: Printer) {
    if as_json {
        printer.json(&json!(done));
    }
}

fn failed(error: MemoryError) -> HostError {
    HostError::Tool(error.into())
}

fn unknown(what: &str, id: Uuid) -> HostError {
    HostError::usage(format!("there is no {what} with id {id}"), "list them first")
}
