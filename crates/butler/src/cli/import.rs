//! `butler import` reads export files and memories of other programs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use butler_domain::event::Origin;
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::transfer::{
    FileFormat, ForeignFormat, ImportOptions, ImportReport, LineReader, TransferError, detect_format,
};

use super::opened_butler::OpenedButler;
use super::serve::Signals;
use super::{Settings, counted};
use crate::printer::Printer;
use crate::progress;

/// How much of a file to read to recognise its format.
const HEAD_BYTES: usize = 64 * 1024;
/// Maximum size of a file of another program, because such files are read into memory.
const FOREIGN_BYTES: u64 = 256 * 1024 * 1024;
const SHOWN_PROBLEMS: usize = 10;
/// Number of lines between two updates of the progress bar.
const LINES_PER_UPDATE: u64 = 256;

/// Import an export file or the memories of another program
///
/// Existing memories are not changed, so importing a file twice has no further effect. A file with an invalid line is
/// rejected as a whole, unless --partial is given. Memories of other programs become facts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler import memory.jsonl --dry-run\n  \
    butler import memory.jsonl --tenant ann\n  \
    zcat ann.jsonl.gz | butler import -\n  \
    butler import ~/.claude/CLAUDE.md\n  \
    butler import mem0-export.json --format mem0")]
pub struct Args {
    /// File to read; `-` reads stdin
    file: PathBuf,
    /// Format of the file
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "auto")]
    format: Format,
    /// Report what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Import the valid lines even if others are invalid
    #[arg(long)]
    partial: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Detected from the first lines; Markdown by the file extension .md
    Auto,
    /// Written by `butler export`
    Butler,
    /// Export of mem0: JSON, or one memory per line
    Mem0,
    /// memory.jsonl of the official MCP memory server
    McpMemory,
    /// Memory file of Claude Code, such as CLAUDE.md
    ClaudeCode,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let mut signals = Signals::new()?;
    let input = Input::open(&args.file)?;
    let opened = OpenedButler::open(settings).await?;
    let outcome = tokio::select! {
        outcome = import(&opened, &args, input, settings) => outcome,
        () = signals.any() => Err(HostError::Failed("interrupted; nothing was imported".to_owned())),
    };
    let report = opened.close(outcome).await?;
    if args.json {
        printer.json(&report);
    } else {
        show(&report, printer);
    }
    let problems = counted(report.problems.len() as u64 + report.problems_omitted, "problem");
    if report.committed
        && report.has_problems()
        && report.kinds.values().all(|tally| tally.created + tally.existing == 0)
    {
        return Err(HostError::Failed(format!(
            "nothing was imported, because every line was refused ({problems}): fix the file"
        )));
    }
    if report.has_problems() && !report.committed && !report.dry_run {
        return Err(HostError::Failed(format!(
            "nothing was imported, because the file has {problems}: fix the file, or import the valid lines with --partial"
        )));
    }
    Ok(())
}

async fn import(
    opened: &OpenedButler,
    args: &Args,
    mut input: Input,
    settings: &Settings,
) -> Result<ImportReport, HostError> {
    let options = ImportOptions {
        tenant: settings.tenant.clone().unwrap_or_default(),
        dry_run: args.dry_run,
        partial: args.partial,
        origin: Origin { actor: Some(CLI_ACTOR.to_owned()), request_id: None },
    };
    let source = match args.format {
        Format::Auto => {
            let name = args.file.file_name().filter(|name| *name != "-").map(|name| name.to_string_lossy());
            detect_format(&input.head()?, name.as_deref()).ok_or_else(|| {
                let message = format!("the format of {} is not recognised", args.file.display());
                HostError::usage(message, "name it with --format")
            })?
        }
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
                let line = input.lines.line()?;
                if line.as_ref().is_some_and(|line| line.number.is_multiple_of(LINES_PER_UPDATE)) {
                    bar.set_position(input.lines.read);
                }
                Ok(line)
            };
            opened.memory.import(&mut next, &options, &|_| ()).await
        }
        FileFormat::Foreign(format) => {
            let name =
                args.file.file_stem().map_or_else(|| "memory".to_owned(), |name| name.to_string_lossy().into_owned());
            let text = input.read_all()?;
            let show = |done, total| {
                bar.set_length(total);
                bar.set_position(done);
            };
            opened.memory.import_foreign(format, &text, &name, &options, &show).await
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
    let read = counted(report.kinds.values().map(|tally| tally.read).sum::<u64>(), "memory");
    let done = match (report.dry_run, report.committed) {
        (true, _) => format!("would import {}", report.created()),
        (false, true) => format!("imported {}", report.created()),
        (false, false) => "imported none".to_owned(),
    };
    printer.line(format_args!("{done} of {read} from {} ({})", counted(report.lines, "line"), report.format));
    for (kind, tally) in report.kinds.iter().filter(|(_, tally)| tally.read > 0) {
        let mut line = format!("  {kind}: {} new, {} already present", tally.created, tally.existing);
        if tally.suppressed > 0 {
            line.push_str(&format!(", {} left out ({})", tally.suppressed, tally.suppressed_by.described().join(", ")));
        }
        if tally.left_out > 0 {
            line.push_str(&format!(", {} skipped", tally.left_out));
        }
        printer.line(line);
    }
    if report.linked > 0 {
        printer.line(format_args!("  {} linked to the entity that the subject names", counted(report.linked, "fact")));
    }
    if report.redacted > 0 {
        printer.line(format_args!("  {}", super::redacted(report.redacted)));
    }
    if report.embedded > 0 {
        printer
            .line(format_args!("  {} embedded again, because the file has no vectors of this model", report.embedded));
    }
    for problem in report.problems.iter().take(SHOWN_PROBLEMS) {
        match problem.line {
            Some(line) => printer.note(format_args!("line {line}: {}", problem.message)),
            None => printer.note(&problem.message),
        }
    }
    let more = (report.problems.len().saturating_sub(SHOWN_PROBLEMS)) as u64 + report.problems_omitted;
    if more > 0 {
        printer.note(format_args!("… and {}; --json lists up to 100", counted(more, "more problem")));
    }
}

struct Input {
    lines: LineReader<BufReader<Box<dyn Read + Send>>>,
    path: PathBuf,
    bytes: Option<u64>,
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
        let reader = BufReader::with_capacity(HEAD_BYTES, reader);
        Ok(Self { lines: LineReader::new(reader), path: path.to_path_buf(), bytes })
    }

    fn head(&mut self) -> Result<String, HostError> {
        let bytes = self.lines.reader.fill_buf().map_err(HostError::io("read", &self.path))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn read_all(&mut self) -> Result<String, HostError> {
        let mut bytes = Vec::new();
        let read = (&mut self.lines.reader).take(FOREIGN_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(HostError::io("read", &self.path))?;
        if bytes.len() as u64 > FOREIGN_BYTES {
            let limit = progress::size(FOREIGN_BYTES);
            return Err(HostError::Failed(format!("{} is larger than {limit}: split it", self.path.display())));
        }
        String::from_utf8(bytes).map_err(|_| HostError::Failed(format!("{} is not UTF-8 text", self.path.display())))
    }
}
