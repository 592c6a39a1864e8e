//! `butler export`: everything a tenant owns, as lines of JSON.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use butler_host::error::HostError;
use butler_memory::transfer::ExportReport;
use serde_json::json;

use super::Settings;
use super::own::Own;
use super::serve::Signals;
use crate::printer::Printer;
use crate::progress;

/// A write of a megabyte costs as much as a small one.
const BUFFER: usize = 1 << 20;
/// Between two looks at the bar.
const STEP: u64 = 256;

/// Write everything a tenant owns to a file: memories, entities, links, history and events
///
/// Lines of JSON of one moment; `butler import` reads them. Vectors are part of it, so that a butler with the same
/// model need not embed anything again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler export --output memory.jsonl\n  \
    butler export --tenant ann --output - | gzip > ann.jsonl.gz\n  \
    butler export --butler health --no-embeddings --output small.jsonl")]
pub struct Args {
    /// The file to write, whole or not at all; `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Leave the vectors out: a fifth of the size, and importing embeds everything again
    #[arg(long)]
    no_embeddings: bool,
    /// Say what was written as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let own = Own::open(settings).await?;
    let outcome = tokio::select! {
        outcome = export(&own, &args, settings) => outcome,
        () = signals.any() => Err(HostError::Failed("stopped; no file was written".to_owned())),
    };
    let report = own.close(outcome).await?;
    if to_stdout(&args.output) {
        printer.note(format_args!("{} lines of tenant {:?}", report.lines, report.tenant));
        return Ok(());
    }
    let size = fs::metadata(&args.output).map(|file| file.len()).unwrap_or_default();
    if args.json {
        printer.json(&json!({"path": args.output, "bytes": size, "lines": report.lines, "tenant": report.tenant,
                             "counts": report.counts}));
        return Ok(());
    }
    let shown = progress::size(size);
    printer.line(format_args!(
        "{} ({shown}): {} lines of tenant {:?}",
        args.output.display(),
        report.lines,
        report.tenant
    ));
    for (kind, count) in report.counts.iter().filter(|(_, count)| **count > 0) {
        printer.line(format_args!("  {count} {kind}"));
    }
    Ok(())
}

fn to_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

async fn export(own: &Own, args: &Args, settings: &Settings) -> Result<ExportReport, HostError> {
    let tenant = settings.tenant.clone().unwrap_or_default();
    let bar = progress::steps(settings.quiet, "exporting");
    let show = |done: u64, total: u64| {
        if done.is_multiple_of(STEP) || done == total {
            bar.set_length(total);
            bar.set_position(done);
        }
    };
    let mut target = Target::open(&args.output)?;
    let mut sink = |line: &str| target.line(line);
    let outcome = own.memory.export(&tenant, !args.no_embeddings, &mut sink, &show).await;
    bar.finish_and_clear();
    let report = outcome.map_err(super::import::failed)?;
    target.finish()?;
    Ok(report)
}

/// Beside its place until it is complete, so that a reader never finds half an export.
struct Target {
    out: BufWriter<Box<dyn Write + Send>>,
    draft: Option<(PathBuf, PathBuf)>,
}

impl Target {
    fn open(path: &Path) -> Result<Self, HostError> {
        if to_stdout(path) {
            return Ok(Self { out: BufWriter::with_capacity(BUFFER, Box::new(io::stdout())), draft: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let draft = path.with_file_name(name);
        // Memories are private.
        let file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&draft);
        let file = file.map_err(HostError::io("write", &draft))?;
        Ok(Self { out: BufWriter::with_capacity(BUFFER, Box::new(file)), draft: Some((draft, path.to_path_buf())) })
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn finish(mut self) -> Result<(), HostError> {
        let place = self.draft.as_ref().map_or_else(|| PathBuf::from("-"), |(_, path)| path.clone());
        self.out.flush().map_err(HostError::io("write", &place))?;
        if let Some((draft, path)) = self.draft.take() {
            let moved = File::open(&draft).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&draft, &path));
            moved.map_err(HostError::io("write", path))?;
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((draft, _)) = &self.draft {
            let _ = fs::remove_file(draft);
        }
    }
}
