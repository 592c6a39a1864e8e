//! `butler import`: our own files in full, other programs' memories as facts.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use butler_host::error::HostError;
use butler_memory::transfer::{
    FileFormat, ForeignFormat, ImportOptions, ImportReport, Line, TransferError, detect_format,
};

use super::Settings;
use super::own::Own;
use super::serve::Signals;
use crate::printer::Printer;
use crate::progress;

/// As much as is needed to tell what a file is.
const BEGINNING: usize = 64 * 1024;
/// The longest memory there is, escaped and with its vector.
const LINE_BYTES: usize = 16 * 1024 * 1024;
/// Foreign files are read whole.
const FOREIGN_BYTES: u64 = 256 * 1024 * 1024;
const SHOWN_PROBLEMS: usize = 10;
const STEP: u64 = 256;

/// Read a file of `butler export`, or the memories of another program
///
/// What is there already stays as it is, so importing twice changes nothing. A file with a bad line is refused as a
/// whole, unless --partial takes what is good. Memories of other programs become facts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler import memory.jsonl --dry-run\n  \
    butler import memory.jsonl --tenant ann\n  \
    zcat ann.jsonl.gz | butler import -\n  \
    butler import ~/.claude/CLAUDE.md\n  \
    butler import mem0-export.json --format mem0")]
pub struct Args {
    /// The file; `-` for standard input
    file: PathBuf,
    /// What the file is
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    format: Format,
    /// Only say what it would come to; nothing is kept
    #[arg(long)]
    dry_run: bool,
    /// Keep what is good even if some lines are not
    #[arg(long)]
    partial: bool,
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Told by its beginning
    Auto,
    /// A file of `butler export`
    Butler,
    /// mem0: JSON, or a memory a line
    Mem0,
    /// The MCP knowledge-graph server's memory.jsonl
    McpMemory,
    /// Claude Code's memory files, such as CLAUDE.md
    ClaudeCode,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let input = Input::open(&args.file)?;
    let own = Own::open(settings).await?;
    let outcome = tokio::select! {
        outcome = import(&own, &args, input, settings) => outcome,
        () = signals.any() => Err(HostError::Failed("stopped; what was read was not kept".to_owned())),
    };
    let report = own.close(outcome).await?;
    if args.json {
        printer.json(&report);
    } else {
        show(&report, printer);
    }
    if report.has_problems() && !report.committed && !report.dry_run {
        let count = report.problems.len() as u64 + report.problems_omitted;
        return Err(HostError::Failed(format!(
            "the file has {count} problems, so nothing of it was kept: mend it, or take what is good with --partial"
        )));
    }
    Ok(())
}

async fn import(own: &Own, args: &Args, mut input: Input, settings: &Settings) -> Result<ImportReport, HostError> {
    let options = ImportOptions {
        tenant: settings.tenant.clone().unwrap_or_default(),
        dry_run: args.dry_run,
        partial: args.partial,
    };
    let source = match args.format {
        Format::Auto => detect_format(&input.beginning()?),
        Format::Butler => FileFormat::Butler,
        Format::Mem0 => FileFormat::Foreign(ForeignFormat::Mem0),
        Format::McpMemory => FileFormat::Foreign(ForeignFormat::McpMemory),
        Format::ClaudeCode => FileFormat::Foreign(ForeignFormat::ClaudeCode),
    };
    let bar = progress::steps(settings.quiet, "importing");
    let outcome = match source {
        FileFormat::Butler => {
            bar.set_length(input.bytes.unwrap_or_default());
            let mut next = || {
                let line = input.line()?;
                if line.as_ref().is_some_and(|line| line.number.is_multiple_of(STEP)) {
                    bar.set_position(input.read);
                }
                Ok(line)
            };
            own.memory.import(&mut next, &options, &|_| ()).await
        }
        FileFormat::Foreign(format) => {
            let name =
                args.file.file_stem().map_or_else(|| "memory".to_owned(), |name| name.to_string_lossy().into_owned());
            let text = input.whole()?;
            let show = |done, total| {
                bar.set_length(total);
                bar.set_position(done);
            };
            own.memory.import_foreign(format, &text, &name, &options, &show).await
        }
    };
    bar.finish_and_clear();
    outcome.map_err(failed)
}

pub(super) fn failed(error: TransferError) -> HostError {
    match error.hint() {
        Some(hint) => HostError::Failed(format!("{error}\n{hint}")),
        None => HostError::Failed(error.to_string()),
    }
}

fn show(report: &ImportReport, printer: Printer) {
    let what = match (report.dry_run, report.committed) {
        (true, _) => "would import",
        (false, true) => "imported",
        (false, false) => "read, but did not keep,",
    };
    let (created, read) = (report.created(), report.kinds.values().map(|tally| tally.read).sum::<u64>());
    printer.line(format_args!("{what} {created} of {read} memories from {} lines ({})", report.lines, report.format));
    for (kind, tally) in report.kinds.iter().filter(|(_, tally)| tally.read > 0) {
        let mut line = format!("  {kind}: {} new, {} here already", tally.created, tally.existing);
        if tally.left_out > 0 {
            line.push_str(&format!(", {} left out", tally.left_out));
        }
        printer.line(line);
    }
    if report.embedded > 0 {
        printer.line(format_args!("  {} embedded again, since the file had no vector of this model", report.embedded));
    }
    for problem in report.problems.iter().take(SHOWN_PROBLEMS) {
        match problem.line {
            Some(line) => printer.note(format_args!("line {line}: {}", problem.message)),
            None => printer.note(&problem.message),
        }
    }
    let more = (report.problems.len().saturating_sub(SHOWN_PROBLEMS)) as u64 + report.problems_omitted;
    if more > 0 {
        printer.note(format_args!("… and {more} more problems; --json lists up to a hundred"));
    }
}

struct Input {
    reader: BufReader<Box<dyn Read + Send>>,
    path: PathBuf,
    bytes: Option<u64>,
    read: u64,
    number: u64,
}

impl Input {
    fn open(path: &Path) -> Result<Self, HostError> {
        let (reader, bytes): (Box<dyn Read + Send>, _) = if path == Path::new("-") {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path).map_err(HostError::io("read", path))?;
            let bytes = file.metadata().ok().map(|file| file.len());
            (Box::new(file), bytes)
        };
        let reader = BufReader::with_capacity(BEGINNING, reader);
        Ok(Self { reader, path: path.to_path_buf(), bytes, read: 0, number: 0 })
    }

    fn beginning(&mut self) -> Result<String, HostError> {
        let bytes = self.reader.fill_buf().map_err(HostError::io("read", &self.path))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn line(&mut self) -> Result<Option<Line>, TransferError> {
        let mut bytes = Vec::new();
        let limit = LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.read += read as u64;
        if read > LINE_BYTES {
            return Err(TransferError::LongLine { line: self.number, limit: LINE_BYTES });
        }
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        // What is no UTF-8 is no JSON either, and becomes a problem of its line.
        Ok(Some(Line { number: self.number, text: String::from_utf8_lossy(&bytes).into_owned() }))
    }

    fn whole(&mut self) -> Result<String, HostError> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(FOREIGN_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(HostError::io("read", &self.path))?;
        if bytes.len() as u64 > FOREIGN_BYTES {
            let most = progress::size(FOREIGN_BYTES);
            return Err(HostError::Failed(format!("{} is larger than {most}: split it", self.path.display())));
        }
        String::from_utf8(bytes).map_err(|_| HostError::Failed(format!("{} is not UTF-8 text", self.path.display())))
    }
}
