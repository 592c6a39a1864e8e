//! `butler demo`: fills a scratch butler, or removes it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use butler_domain::{Clock, SystemClock};
use butler_host::config::{self, Source};
use butler_host::error::HostError;
use butler_host::host::demo::{NAME, config_file};
use butler_host::host::{Host, HostOptions};
use butler_host::instance::{self, create_data_dir};
use serde_json::json;

use super::Settings;
use super::serve::Signals;
use crate::printer::Printer;
use crate::{demo, progress};

/// Fill a scratch butler called `demo` with half a year of an invented life, to look around in
///
/// A running server shows it at once. Your own butlers are not touched; running it again starts afresh.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler demo                    about 2000 memories, in some seconds\n  \
    butler demo --size 5000\n  \
    butler stats --butler demo\n  \
    butler demo --remove           as if it had never been")]
pub struct Args {
    /// How many memories, roughly
    #[arg(long, value_name = "N", default_value_t = demo::DEFAULT_SIZE, value_parser = size)]
    size: usize,
    /// Remove the demo butler and everything it knows
    #[arg(long, conflicts_with = "size")]
    remove: bool,
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<usize, String> {
    let (least, most) = (*demo::SIZES.start(), *demo::SIZES.end());
    let wanted = text.parse().ok().filter(|size| demo::SIZES.contains(size));
    wanted.ok_or_else(|| format!("must be a whole number between {least} and {most}"))
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let taken = config::load_all(&settings.host.source)?.into_iter().find(|config| config.name == NAME);
    if let Some(path) = taken.and_then(|config| config.path) {
        let path = path.display();
        return Err(HostError::Failed(format!(
            "your own butler in {path} is called {NAME:?}, and the demo would take its place: give yours another name"
        )));
    }
    let mut signals = Signals::new()?;
    let draft = Draft::write(settings)?;
    let existed = remove_marker(&settings.host.data_dir)?;
    let options = HostOptions { source: Source::File(draft.path.clone()), ..settings.host.clone() };
    let host = Host::new(options)?;
    let outcome = tokio::select! {
        outcome = work(&host, &args, settings, draft, existed, printer) => outcome,
        () = signals.any() => Err(HostError::Failed("stopped; `butler demo` starts afresh".to_owned())),
    };
    outcome.and(host.stop().await)
}

async fn work(
    host: &Arc<Host>,
    args: &Args,
    settings: &Settings,
    draft: Draft,
    existed: bool,
    printer: Printer,
) -> Result<(), HostError> {
    let butler = host.butler(None)?;
    let begun = Instant::now();
    host.start_private(progress::on_stderr(settings.quiet)).await?;
    host.drop_data(&butler).await?;
    if args.remove {
        return removed(existed, args.json, printer);
    }
    host.start(progress::on_stderr(settings.quiet)).await?;
    let bar = progress::steps(settings.quiet, "living through half a year");
    let filled = demo::fill(host, &butler, args.size, &bar).await;
    bar.finish_and_clear();
    let stats = filled?;
    draft.publish(&settings.host.data_dir)?;
    let page = instance::running(&settings.host.data_dir).map(|server| format!("{}/butlers/{NAME}/memory", server.url));
    let count = |kind: &str| stats[kind]["total"].as_u64().unwrap_or_default();
    let (episodes, facts, rules) = (count("episodes"), count("facts"), count("rules"));
    let (memories, took) = (episodes + facts + rules, begun.elapsed());
    if args.json {
        printer.json(&json!({"butler": NAME, "memories": memories, "stats": stats, "url": page,
                             "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX)}));
        return Ok(());
    }
    printer.line(format_args!(
        "the butler {NAME:?} knows {memories} memories now: {episodes} episodes, {facts} facts, {rules} rules ({:.1} s)",
        took.as_secs_f64()
    ));
    match page {
        Some(page) => printer.line(format_args!("look around: {page}")),
        None => printer.line("look around: start `butler serve`, then open its address in a browser"),
    }
    Ok(())
}

fn removed(existed: bool, json: bool, printer: Printer) -> Result<(), HostError> {
    if json {
        printer.json(&json!({"butler": NAME, "removed": existed}));
    } else {
        printer.line(if existed { "the demo is gone" } else { "there was no demo" });
    }
    Ok(())
}

fn remove_marker(data_dir: &Path) -> Result<bool, HostError> {
    let path = config_file(data_dir);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(HostError::io("remove", path)(error)),
    }
}

/// The configuration while the demo is being made; nobody serves it before it is complete.
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn write(settings: &Settings) -> Result<Self, HostError> {
        let data_dir = &settings.host.data_dir;
        create_data_dir(data_dir)?;
        let path = config_file(data_dir).with_extension("toml.new");
        let folder = path.parent().unwrap_or(data_dir);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(HostError::io("create", folder))?;
        let made = SystemClock.now().to_rfc3339();
        let text = demo::configuration(&made, settings.host.database_url.as_deref());
        // It may hold a URL with a password.
        fs::OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(HostError::io("write", &path))?;
        Ok(Self { path })
    }

    fn publish(&self, data_dir: &Path) -> Result<(), HostError> {
        let to = config_file(data_dir);
        fs::rename(&self.path, &to).map_err(HostError::io("write", to))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Only when nothing else is in it.
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}
