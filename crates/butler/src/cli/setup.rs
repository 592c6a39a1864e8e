use std::path::{Path, PathBuf};
use std::sync::Arc;

use butler_fetch::Progress;
use butler_host::error::HostError;
use butler_host::host::Host;
use serde_json::json;

use super::Settings;
use crate::printer::Printer;
use crate::progress;

/// Download and verify PostgreSQL and the embedding model ahead of time
///
/// `serve` and `mcp` do the same on their first start. Files that are already present are not downloaded again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  butler setup\n  butler setup --json\n  BUTLER_CACHE_DIR=/opt/butler butler setup")]
pub struct Args {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let progress = progress::on_stderr(settings.quiet);
    let mut result = json!({"postgresql": null});
    if settings.host.database_url.is_none() {
        let runtime = runtime(settings, Arc::clone(&progress)).await?;
        let home = runtime.bin_dir.parent().unwrap_or(&runtime.bin_dir).to_path_buf();
        let bytes = size_of(home.clone()).await;
        result["postgresql"] = json!({"version": runtime.to_string(), "dir": home, "bytes": bytes});
        if !args.json {
            printer.line(format_args!("PostgreSQL  {runtime}, {}", progress::size(bytes)));
        }
    }
    let host = Host::new(settings.host.clone())?;
    let model = host.fetch_model(progress).await?;
    // Loading the model proves that the file is complete and that this processor can run it.
    host.engine().warm_up().await?;
    let bytes = size_of(model.clone()).await;
    let name = butler_memory::config::EmbeddingConfig::MODEL;
    if args.json {
        result["model"] = json!({"name": name, "dir": model, "bytes": bytes});
        printer.json(&result);
        return Ok(());
    }
    printer.line(format_args!("model       {name} ({}, {})", model.display(), progress::size(bytes)));
    printer.line("ready for `butler serve`");
    Ok(())
}

async fn runtime(settings: &Settings, progress: Arc<dyn Progress>) -> Result<butler_postgres::Runtime, HostError> {
    let options = settings.host.postgres();
    blocking(move || Ok(butler_postgres::locate(&options, &*progress)?)).await
}

async fn size_of(dir: PathBuf) -> u64 {
    tokio::task::spawn_blocking(move || bytes_below(&dir)).await.unwrap_or(0)
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_below(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HostError> + Send + 'static,
) -> Result<T, HostError> {
    let cancelled = |_| Err(HostError::Failed("the task was cancelled".to_owned()));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(cancelled)
}
