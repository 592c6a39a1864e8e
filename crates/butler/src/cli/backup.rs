//! `butler backup`: make, list, rehearse and bring back.

use std::io::{BufRead, IsTerminal, Write};

use butler_host::backup::{self, Backup};
use butler_host::butler::Butler;
use butler_host::error::HostError;
use butler_host::host::Host;
use butler_host::instance::{self, create_data_dir};
use butler_store::tokens::TokenRow;
use serde_json::json;

use super::Settings;
use super::own::Own;
use crate::printer::Printer;
use crate::progress;

/// Backups of a whole butler, of all its tenants, with PostgreSQL's own tools
///
/// By themselves with `schedule` in [butler.backup] of butler.toml, as the job `backup`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler backup create\n  \
    butler backup list --json\n  \
    butler backup verify                   rehearse the latest in a scratch database\n  \
    butler backup restore --yes            bring the latest back; the server must not run")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Write a backup; a server may go on meanwhile
    #[command(after_help = "Examples:\n  butler backup create --keep 7\n  butler backup create --butler health --json")]
    Create {
        /// Remove all but the newest N afterwards
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        keep: Option<u32>,
        #[arg(long)]
        json: bool,
    },
    /// The backups there are, newest first
    #[command(after_help = "Examples:\n  butler backup list --json")]
    List {
        #[arg(long)]
        json: bool,
    },
    /// Restore into a scratch database and compare what is there with what should be
    #[command(after_help = "Examples:\n  \
        butler backup verify                                the latest\n  \
        butler backup verify general-20260101T030000000Z --json")]
    Verify {
        /// Which one [default: the latest]
        name: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Bring a backup back in place of what the butler knows now, which is backed up first
    ///
    /// Tokens stay as they are now: what was revoked since the backup is not let in again.
    #[command(after_help = "Examples:\n  \
        butler backup restore                               the latest, after a question\n  \
        butler backup restore general-20260101T030000000Z --yes --json")]
    Restore {
        /// Which one [default: the latest]
        name: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    match args.command {
        Command::Create { keep, json } => {
            let own = Own::open(settings).await?;
            let folder = own.host.backup_folder(&own.butler);
            let outcome = create(&own).await;
            let stored = own.close(outcome).await?;
            let removed = match keep {
                Some(keep) => backup::prune(&folder, keep as usize)?,
                None => 0,
            };
            tell("made", &stored, json, printer);
            if removed > 0 && !json {
                printer.note(format_args!("{removed} older ones were removed"));
            }
            Ok(())
        }
        Command::List { json } => list(settings, json, printer),
        Command::Verify { name, json } => {
            let own = Own::open(settings).await?;
            let found = backup::find(&own.host.backup_folder(&own.butler), name.as_deref());
            let outcome = match found {
                Ok(stored) => butler_host::host::verify(&own.host, &own.butler, &stored).await.map(|_| stored),
                Err(error) => Err(error),
            };
            let stored = own.close(outcome).await?;
            tell("verified", &stored, json, printer);
            Ok(())
        }
        Command::Restore { name, yes, json } => restore(settings, name.as_deref(), yes, json, printer).await,
    }
}

async fn create(own: &Own) -> Result<Backup, HostError> {
    own.host.backup_source(&own.butler).await?.create().await
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
        printer.line("no backups yet: make one with `butler backup create`");
    }
    for stored in all {
        let made = stored.manifest.created_at.format("%Y-%m-%d %H:%MZ");
        printer.line(format_args!(
            "{}  {made}  {}  {}",
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
            "a server works on this data directory: stop it first (kill {}), and start it again after the restore",
            server.pid
        )));
    }
    create_data_dir(&settings.host.data_dir)?;
    let host = Host::new(settings.host.clone())?;
    let butler = host.butler(settings.butler.as_deref())?;
    let stored = backup::find(&host.backup_folder(&butler), name)?;
    confirm(&stored, yes)?;
    // What is there now is kept as a backup of its own.
    let own = Own::open(settings).await?;
    let outcome = match create(&own).await {
        Ok(before) => own.tokens().await.map(|tokens| (before, tokens)),
        Err(error) => Err(error),
    };
    let (before, tokens) = own.close(outcome).await?;
    host.start_private(progress::on_stderr(settings.quiet)).await?;
    let outcome = swap(&host, &butler, &stored, &tokens).await;
    let stopped = host.stop().await;
    outcome?;
    stopped?;
    if json {
        printer.json(&json!({"restored": stored, "before": before}));
        return Ok(());
    }
    tell("restored", &stored, false, printer);
    printer.note(format_args!("what was there before is the backup {}", before.name));
    Ok(())
}

/// The old home goes once the new one has its name: its backup is there.
async fn swap(host: &Host, butler: &Butler, stored: &Backup, tokens: &[TokenRow]) -> Result<(), HostError> {
    butler_host::host::restore(host, butler, stored, tokens).await?.drop(host, butler).await
}

fn confirm(stored: &Backup, yes: bool) -> Result<(), HostError> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        let problem = "a restore replaces what the butler knows now, and nobody is there to be asked";
        return Err(HostError::Failed(format!("{problem}: say --yes")));
    }
    let made = stored.manifest.created_at.format("%Y-%m-%d %H:%MZ");
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "Replace all that {:?} knows by {} of {made}? [y/N] ", stored.manifest.butler, stored.name);
    let _ = stderr.flush();
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(HostError::io("read", "the answer"))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(HostError::Failed("nothing was changed".to_owned()))
}

fn tell(what: &str, stored: &Backup, json: bool, printer: Printer) {
    if json {
        let mut value = serde_json::to_value(stored).unwrap_or_default();
        value[what] = true.into();
        printer.json(&value);
        return;
    }
    printer.line(format_args!("{what} {} ({})", stored.path.display(), progress::size(stored.bytes)));
    let shown = ["episodes", "facts", "rules", "entities", "memory_events"];
    let counts: Vec<String> = shown
        .iter()
        .filter_map(|table| {
            Some(format!("{} {}", stored.manifest.contents.rows.get(*table)?, table.replace("memory_", "")))
        })
        .collect();
    printer.line(format_args!("  {}", counts.join(", ")));
}
