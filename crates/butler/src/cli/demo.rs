//! `butler demo` creates or removes the demo butler.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use butler_domain::{Clock, SystemClock};
use butler_host::config::{self, Source};
use butler_host::error::HostError;
use butler_host::host::demo::{NAME, config_file};
use butler_host::host::{Host, HostOptions};
use butler_host::instance::{self, create_data_dir};
use serde_json::{Value, json};

use super::Settings;
use super::serve::Signals;
use super::tool_client::ToolClient;
use crate::printer::Printer;
use crate::{demo, progress};

/// How long to wait for the running server to host the demo. It watches the data directory.
const HOSTED_WITHIN: Duration = Duration::from_secs(10);
const HOSTED_POLL: Duration = Duration::from_millis(100);

/// Create a demo butler with half a year of invented memories to explore
///
/// The butler is called `demo`, and a running server shows it immediately. Your own butlers are not changed. Running
/// the command again recreates the demo.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler demo                    create about 2000 memories in a few seconds\n  \
    butler demo --size 5000\n  \
    butler stats --butler demo\n  \
    butler demo --remove           remove the demo butler")]
pub struct Args {
    /// Approximate number of memories
    #[arg(long, value_name = "N", default_value_t = demo::DEFAULT_SIZE, value_parser = size)]
    size: usize,
    /// Remove the demo butler and all its memories
    #[arg(long, conflicts_with = "size")]
    remove: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<usize, String> {
    let (least, most) = (*demo::SIZES.start(), *demo::SIZES.end());
    let size = text.parse().ok().filter(|size| demo::SIZES.contains(size));
    size.ok_or_else(|| format!("expected a whole number between {least} and {most}"))
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let taken = config::load_all(&settings.host.source)?.into_iter().find(|config| config.name == NAME);
    if let Some(path) = taken.and_then(|config| config.path) {
        let path = path.display();
        return Err(HostError::Failed(format!(
            "the butler in {path} is already called {NAME:?}: rename it to create the demo"
        )));
    }
    let mut signals = Signals::new()?;
    let draft = Draft::write(settings)?;
    let existed = remove_marker(&settings.host.data_dir)?;
    let options = HostOptions { source: Source::File(draft.path.clone()), ..settings.host.clone() };
    let host = Host::new(options)?;
    let outcome = tokio::select! {
        outcome = work(&host, &args, settings, draft, existed, printer) => outcome,
        () = signals.any() => Err(HostError::Failed("interrupted; run `butler demo` again to start over".to_owned())),
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
    let started = Instant::now();
    host.start_private(progress::on_stderr(settings.quiet)).await?;
    host.drop_data(&butler).await?;
    if args.remove {
        return removed(existed, args.json, printer);
    }
    host.start(progress::on_stderr(settings.quiet)).await?;
    let bar = progress::steps(settings.quiet, "creating demo memories");
    let filled = demo::fill(host, &butler, args.size, &bar).await;
    bar.finish_and_clear();
    let stats = filled?;
    draft.publish(&settings.host.data_dir)?;
    let page = instance::running(&settings.host.data_dir).map(|server| format!("{}/butlers/{NAME}/memory", server.url));
    if page.is_some() {
        until_hosted(settings).await;
    }
    let count = |kind: &str| stats[kind]["total"].as_u64().unwrap_or_default();
    let (episodes, facts, rules) = (count("episodes"), count("facts"), count("rules"));
    let (memories, took) = (episodes + facts + rules, started.elapsed());
    if args.json {
        printer.json(&json!({"butler": NAME, "memories": memories, "stats": stats, "url": page,
                             "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX)}));
        return Ok(());
    }
    printer.line(format_args!(
        "created butler {NAME:?} with {memories} memories: {episodes} episodes, {facts} facts, {rules} rules ({:.1} s)",
        took.as_secs_f64()
    ));
    match page {
        Some(page) => printer.line(format_args!("open it in a browser: {page}")),
        None => printer.line("to explore it, start `butler serve` and open its address in a browser"),
    }
    Ok(())
}

/// Waits until the running server hosts the demo, so that the next command finds it there.
async fn until_hosted(settings: &Settings) {
    let Ok(client) = ToolClient::open(settings) else { return };
    let is_demo = |butler: &Value| butler["name"] == NAME;
    let deadline = Instant::now() + HOSTED_WITHIN;
    while Instant::now() < deadline {
        if let Ok(listed) = client.get("/api/butlers").await
            && listed["data"].as_array().is_some_and(|butlers| butlers.iter().any(is_demo))
        {
            return;
        }
        tokio::time::sleep(HOSTED_POLL).await;
    }
}

fn removed(existed: bool, json: bool, printer: Printer) -> Result<(), HostError> {
    if json {
        printer.json(&json!({"butler": NAME, "removed": existed}));
    } else {
        printer.line(if existed { "removed the demo butler" } else { "there is no demo butler" });
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

/// The configuration of a demo in progress. It is published only when the demo is complete, so no server shows it
/// before.
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
        let created = SystemClock.now().to_rfc3339();
        let text = demo::configuration(&created, settings.host.database_url.as_deref());
        // The URL may contain a password, so only the owner may read the file.
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
        // This fails, as intended, if the directory is not empty.
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}
