//! `butler export` writes everything a tenant owns as JSON lines.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::Call;
use butler_memory::transfer::ExportReport;
use serde_json::json;

use super::opened_butler::OpenedButler;
use super::serve::Signals;
use super::{Settings, counted};
use crate::printer::Printer;
use crate::progress;

/// Size of the write buffer. Large writes need fewer system calls.
const BUFFER_BYTES: usize = 1 << 20;
/// Number of lines between two updates of the progress bar.
const LINES_PER_UPDATE: u64 = 256;

/// Export everything a tenant owns: memories, entities, links, history and events
///
/// Writes a consistent snapshot as JSON lines, which `butler import` reads. The export includes the vectors, so that a
/// butler with the same model does not have to embed again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler export --output memory.jsonl\n  \
    butler export --tenant ann --output - | gzip > ann.jsonl.gz\n  \
    butler export --butler health --no-embeddings --output small.jsonl")]
pub struct Args {
    /// File to write; `-` writes to stdout
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Omit the vectors: the file is a fifth of the size, but an import has to embed everything again
    #[arg(long)]
    no_embeddings: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let opened = OpenedButler::open(settings).await?;
    let outcome = tokio::select! {
        outcome = export(&opened, &args, settings) => outcome,
        () = signals.any() => Err(HostError::Failed("interrupted; no file was written".to_owned())),
    };
    let report = opened.close(outcome).await?;
    if to_stdout(&args.output) {
        printer.note(format_args!("exported {} of tenant {:?}", counted(report.lines, "line"), report.tenant));
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
        "exported {} of tenant {:?} to {} ({shown})",
        counted(report.lines, "line"),
        report.tenant,
        args.output.display()
    ));
    for (kind, count) in report.counts.iter().filter(|(_, count)| **count > 0) {
        printer.line(format_args!("  {count} {kind}"));
    }
    Ok(())
}

fn to_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

async fn export(opened: &OpenedButler, args: &Args, settings: &Settings) -> Result<ExportReport, HostError> {
    let tenant = settings.tenant.clone().unwrap_or_default();
    let bar = progress::steps(settings.quiet, "exporting");
    let show = |done: u64, total: u64| {
        if done.is_multiple_of(LINES_PER_UPDATE) || done == total {
            bar.set_length(total);
            bar.set_position(done);
        }
    };
    let mut target = Target::open(&args.output)?;
    let mut sink = |line: &str| target.line(line);
    let call = Call::internal(&opened.memory, tenant, CLI_ACTOR);
    let outcome = opened.memory.export(&call, !args.no_embeddings, &mut sink, &show).await;
    bar.finish_and_clear();
    let report = outcome.map_err(super::import::failed)?;
    target.finish()?;
    Ok(report)
}

/// Writes to a temporary file and renames it at the end, so that an incomplete export is never visible.
struct Target {
    out: BufWriter<Box<dyn Write + Send>>,
    temporary: Option<(PathBuf, PathBuf)>,
}

impl Target {
    fn open(path: &Path) -> Result<Self, HostError> {
        if to_stdout(path) {
            return Ok(Self { out: BufWriter::with_capacity(BUFFER_BYTES, Box::new(io::stdout())), temporary: None });
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let temporary = path.with_file_name(name);
        // Memories are private, so only the owner may read the file.
        let file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&temporary);
        let file = file.map_err(HostError::io("write", &temporary))?;
        Ok(Self {
            out: BufWriter::with_capacity(BUFFER_BYTES, Box::new(file)),
            temporary: Some((temporary, path.to_path_buf())),
        })
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn finish(mut self) -> Result<(), HostError> {
        let path = self.temporary.as_ref().map_or_else(|| PathBuf::from("-"), |(_, path)| path.clone());
        self.out.flush().map_err(HostError::io("write", &path))?;
        if let Some((temporary, path)) = self.temporary.take() {
            let moved =
                File::open(&temporary).and_then(|file| file.sync_all()).and_then(|()| fs::rename(&temporary, &path));
            moved.map_err(HostError::io("write", path))?;
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
