//! `butler backup` creates, lists, verifies and restores backups.

use butler_host::backup::{self, Backup};
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::{self, create_data_dir};
use butler_store::backup::Erasure;
use butler_store::tokens::TokenRow;
use serde_json::json;

use super::opened_butler::OpenedButler;
use super::{Settings, confirmation};
use crate::printer::Printer;
use crate::progress;

/// Create, list, verify and restore backups of a butler
///
/// A backup covers all tenants and is made with PostgreSQL's own tools. To back up on a schedule, set `schedule` in
/// [butler.backup] of butler.toml.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler backup create\n  \
    butler backup list --json\n  \
    butler backup verify            restore the latest into a scratch database\n  \
    butler backup restore --yes     restore the latest; stop the server first")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a backup; a server may keep running
    #[command(after_help = "Examples:\n  butler backup create --keep 7\n  butler backup create --butler health --json")]
    Create {
        /// Keep only the newest N backups
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        keep: Option<u32>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List backups, newest first
    #[command(after_help = "Examples:\n  butler backup list --json")]
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Verify a backup by restoring it into a scratch database and comparing its contents
    #[command(after_help = "Examples:\n  \
        butler backup verify          verify the latest\n  \
        butler backup verify general-20260101T030000000Z --json")]
    Verify {
        /// Name of the backup [default: the latest]
        name: Option<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Replace a butler's memory with a backup
    ///
    /// Backs up the current memory first. Tokens keep their current state, so that tokens revoked since the backup stay
    /// revoked.
    #[command(after_help = "Examples:\n  \
        butler backup restore         restore the latest after confirmation\n  \
        butler backup restore general-20260101T030000000Z --yes --json")]
    Restore {
        /// Name of the backup [default: the latest]
        name: Option<String>,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    match args.command {
        Command::Create { keep, json } => {
            let opened = OpenedButler::open(settings).await?;
            let folder = opened.host.backup_folder(&opened.butler);
            let outcome = create(&opened).await;
            let stored = opened.close(outcome).await?;
            let removed = match keep {
                Some(keep) => backup::prune(&folder, keep as usize)?,
                None => 0,
            };
            print_backup("created", "made", &stored, json, printer);
            if removed > 0 && !json {
                printer.note(format_args!("removed {removed} older backups"));
            }
            Ok(())
        }
        Command::List { json } => list(settings, json, printer),
        Command::Verify { name, json } => {
            let opened = OpenedButler::open(settings).await?;
            let found = backup::find(&opened.host.backup_folder(&opened.butler), name.as_deref());
            let outcome = match found {
                Ok(stored) => butler_host::host::verify(&opened.host, &opened.butler, &stored).await.map(|_| stored),
                Err(error) => Err(error),
            };
            let stored = opened.close(outcome).await?;
            print_backup("verified", "verified", &stored, json, printer);
            Ok(())
        }
        Command::Restore { name, yes, json } => restore(settings, name.as_deref(), yes, json, printer).await,
    }
}

async fn create(opened: &OpenedButler) -> Result<Backup, HostError> {
    opened.host.backup_source(&opened.butler).await?.create().await
}

fn list(settings: &Settings, json: bool, printer: Printer) -> Result<(), HostError> {
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    let all = backup::list(&host.backup_folder(&butler))?;
    if json {
        printer.json(&json!({"backups": all}));
        return Ok(());
    }
    if all.is_empty() {
        printer.line("no backups: create one with `butler backup create`");
    }
    for stored in all {
        let created_at = stored.manifest.created_at.format("%Y-%m-%d %H:%MZ");
        printer.line(format_args!(
            "{}  {created_at}  {}  {}",
            stored.name,
            progress::size(stored.bytes),
            stored.path.display()
        ));
    }
    Ok(())
}

async fn restore(
    settings: &Settings,
    name: Option<&str>,
    yes: bool,
    json: bool,
    printer: Printer,
) -> Result<(), HostError> {
    if let Some(server) = instance::running(&settings.host.data_dir) {
        return Err(HostError::Failed(format!(
            "a server is running on this data directory: stop it first (kill {}) and start it again after the restore",
            server.pid
        )));
    }
    create_data_dir(&settings.host.data_dir)?;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    let stored = backup::find(&host.backup_folder(&butler), name)?;
    let opened = OpenedButler::open(settings).await?;
    let outcome = current(&opened, &stored, yes).await;
    let (before, tokens, erasures) = opened.close(outcome).await?;
    host.start_private(progress::on_stderr(settings.quiet)).await?;
    let outcome = swap(&host, &butler, &stored, &tokens).await;
    let stopped = host.stop().await;
    outcome?;
    stopped?;
    if json {
        printer.json(&json!({"restored": stored, "before": before, "erased_since": erasures}));
        return Ok(());
    }
    print_backup("restored", "restored", &stored, false, printer);
    printer.note(format_args!("the previous state is saved as backup {}", before.name));
    Ok(())
}

/// Asks, then backs up the current state. Returns that backup, the tokens, and the erasures that the restore undoes.
async fn current(
    opened: &OpenedButler,
    stored: &Backup,
    yes: bool,
) -> Result<(Backup, Vec<TokenRow>, Vec<Erasure>), HostError> {
    let erasures = opened.erasures_since(stored.manifest.created_at).await?;
    warn_of(&erasures, opened);
    confirm(stored, yes)?;
    Ok((create(opened).await?, opened.tokens().await?, erasures))
}

/// What was erased after the backup comes back with it.
/// Also with `--quiet`: nobody else says it.
fn warn_of(erasures: &[Erasure], opened: &OpenedButler) {
    if erasures.is_empty() {
        return;
    }
    let where_it_is = format!("--butler {}{}", opened.butler.name, opened.host.options().cli_flags());
    eprintln!("this backup is older than {} erasures; repeat them after the restore:", erasures.len());
    for erasure in erasures {
        let tenant = shell_word(&erasure.tenant_id);
        let command = match erasure.entity_id {
            Some(id) => format!("butler forget --entity {id} --erase --tenant {tenant} {where_it_is}"),
            None => format!("butler erase --tenant {tenant} {where_it_is}"),
        };
        eprintln!("  {command}  (erased {})", erasure.erased_at.format("%Y-%m-%d %H:%MZ"));
    }
}

/// A tenant's name, quoted if a shell would read it differently.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Restores the backup, then drops the old database. The old database is already backed up.
async fn swap(host: &Host, butler: &Butler, stored: &Backup, tokens: &[TokenRow]) -> Result<(), HostError> {
    butler_host::host::restore(host, butler, stored, tokens).await?.drop(host, butler).await
}

fn confirm(stored: &Backup, yes: bool) -> Result<(), HostError> {
    let created_at = stored.manifest.created_at.format("%Y-%m-%d %H:%MZ");
    let question = format!(
        "Replace the memory of butler {:?} with backup {} from {created_at}?",
        stored.manifest.butler, stored.name
    );
    confirmation::require(yes, "a restore replaces the butler's memory", &question)
}

/// Prints a backup. `json_key` is the member that is true in the JSON output.
fn print_backup(verb: &str, json_key: &str, stored: &Backup, json: bool, printer: Printer) {
    if json {
        let mut value = serde_json::to_value(stored).unwrap_or_default();
        value[json_key] = true.into();
        printer.json(&value);
        return;
    }
    printer.line(format_args!("{verb} {} ({})", stored.path.display(), progress::size(stored.bytes)));
    let shown = ["episodes", "facts", "rules", "entities", "memory_events"];
    let counts: Vec<String> = shown
        .iter()
        .filter_map(|table| {
            Some(format!("{} {}", stored.manifest.contents.rows.get(*table)?, table.replace("memory_", "")))
        })
        .collect();
    printer.line(format_args!("  {}", counts.join(", ")));
}
