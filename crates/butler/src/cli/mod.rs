//! The command line. Each command has its own file.

mod backup;
mod completions;
mod config;
mod confirmation;
mod connect;
mod db;
mod demo;
mod doctor;
mod edit;
mod erase;
mod export;
mod global;
mod grants;
mod hook;
mod import;
mod installation;
mod jobs;
mod login_link;
mod man;
mod mcp;
mod opened_butler;
mod restore;
mod review;
mod run;
mod serve;
mod setup;
mod token;
pub mod tool_client;
mod uninstall;
mod upgrade;
mod verbs;
mod why;
mod why_not;
mod wording;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use futures::future::LocalBoxFuture;
use tokio::runtime::Builder;

pub use global::{Global, Settings};

use butler_host::error::HostError;

use crate::logging;
use crate::printer::Printer;

/// Long-term memory for LLM agents, served over MCP.
#[derive(Debug, Parser)]
#[command(
    name = "butler",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 110,
    after_help = "Examples:\n  \
        butler serve                        start a server with a private PostgreSQL\n  \
        butler mcp                          serve one agent over stdin and stdout\n  \
        butler serve --config butler.toml   start a server with one butler\n  \
        butler doctor                       check the installation\n\n\
        Without configuration, Butler hosts one butler called `general`."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Serve(serve::Args),
    Mcp(mcp::Args),
    Run(run::Args),
    Hook(hook::Args),
    Connect(connect::Args),
    #[command(flatten)]
    Verb(verbs::Verb),
    Why(why::Args),
    WhyNot(why_not::Args),
    Edit(edit::Args),
    Restore(restore::Args),
    Setup(setup::Args),
    Doctor(doctor::Args),
    Db(db::Args),
    Jobs(jobs::Args),
    Demo(demo::Args),
    Token(token::Args),
    LoginLink(login_link::Args),
    Grants(grants::Args),
    Export(export::Args),
    Import(import::Args),
    Backup(backup::Args),
    Erase(erase::Args),
    Review(review::Args),
    Tombstones(review::TombstoneArgs),
    Config(config::Args),
    Completions(completions::Args),
    Upgrade(upgrade::Args),
    Uninstall(uninstall::Args),
    Man(man::Args),
}

impl Command {
    /// The default log level. Servers report through their log, other commands through their output.
    const fn log_level(&self) -> &'static str {
        match self {
            Self::Serve(_) | Self::Setup(_) => "info",
            // The demo creates dead letters on purpose; their warnings would look like problems.
            Self::Demo(_) => "error",
            _ => "warn",
        }
    }
}

/// Parses the command line, runs the command and prints its error. Exit codes: 0 success, 1 failure, 2 invalid usage.
pub fn main() -> ExitCode {
    let matches = Cli::command().try_get_matches().unwrap_or_else(|error| without_environment(error).exit());
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let printer = Printer::new(cli.global.quiet);
    let is_hook = matches!(cli.command, Command::Hook(_));
    let outcome = logging::init(cli.global.log_format, cli.command.log_level(), cli.global.verbose, cli.global.quiet)
        .and_then(|()| Settings::resolve(&cli.global, &matches))
        .and_then(|settings| run(cli.command, settings, printer))
        .map_err(wording::for_shell);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // A failed hook must not stop the agent.
        Err(error) if is_hook => {
            printer.error(&error);
            ExitCode::SUCCESS
        }
        Err(error) => {
            printer.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Parses again without environment variables and returns that error. Otherwise the usage line lists every option that an
/// environment variable sets, as if it were required.
fn without_environment(error: clap::Error) -> clap::Error {
    let has_usage_line = error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let command = Cli::command().mut_args(|argument| argument.env(None::<&'static str>));
    match command.try_get_matches() {
        Err(plain) if has_usage_line && plain.kind() == error.kind() => plain,
        _ => error,
    }
}

/// Writes a generated text to stdout. A reader that closes the pipe early is no failure.
fn write_out(text: &[u8]) -> Result<(), HostError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(HostError::Failed(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}

fn run(command: Command, settings: Settings, printer: Printer) -> Result<(), HostError> {
    let settings = match command {
        Command::Serve(_) | Command::Completions(_) | Command::Man(_) | Command::Connect(_) => settings,
        _ => settings.with_running_server(),
    };
    let settings = &settings;
    match command {
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Upgrade(args) => upgrade::run(&args, printer),
        Command::Uninstall(args) => uninstall::run(&args, settings, printer),
        Command::Config(args) => config::run(&args, settings, printer),
        Command::Serve(args) => on_runtime(serve::run(args, settings, printer)),
        Command::Mcp(args) => on_runtime(mcp::run(args, settings, printer)),
        Command::Hook(args) => on_one_thread(async {
            hook::run(args, settings).await;
            Ok(())
        }),
        Command::Connect(args) => connect::run(&args, settings, printer),
        Command::Run(args) => on_one_thread(run::run(args, settings, printer)),
        Command::Verb(verb) => on_one_thread(verbs::run(verb, settings, printer)),
        Command::Why(args) => on_runtime(why::run(args, settings, printer)),
        Command::WhyNot(args) => on_runtime(why_not::run(args, settings, printer)),
        Command::Edit(args) => on_runtime(edit::run(args, settings, printer)),
        Command::Restore(args) => on_runtime(restore::run(args, settings, printer)),
        Command::Setup(args) => on_runtime(setup::run(args, settings, printer)),
        Command::Doctor(args) => on_runtime(doctor::run(args, settings, printer)),
        Command::Db(args) => on_runtime(db::run(args, settings, printer)),
        Command::Demo(args) => on_runtime(demo::run(args, settings, printer)),
        Command::Export(args) => on_runtime(export::run(args, settings, printer)),
        Command::Import(args) => on_runtime(import::run(args, settings, printer)),
        Command::Backup(args) => on_runtime(backup::run(args, settings, printer)),
        Command::Erase(args) => on_runtime(erase::run(args, settings, printer)),
        Command::Review(args) => on_runtime(review::run(args, settings, printer)),
        Command::Tombstones(args) => on_runtime(review::run_tombstones(args, settings, printer)),
        Command::Jobs(args) => on_runtime(jobs::run(args, settings, printer)),
        Command::Token(args) => on_runtime(token::run(args, settings, printer)),
        Command::LoginLink(args) => on_runtime(login_link::run(args, settings, printer)),
        Command::Grants(args) => on_runtime(grants::run(args, settings, printer)),
    }
}

/// Runs a command that makes one tool call. Worker threads would only delay its start.
fn on_one_thread(command: impl Future<Output = Result<(), HostError>>) -> Result<(), HostError> {
    block_on(&mut Builder::new_current_thread(), Box::pin(command))
}

/// Upper limit of worker threads. Commands wait for database and network, so more threads would only use memory.
const WORKERS: usize = 4;

/// The stack of a worker thread. In a debug build, the tokenizer puts 1.2 MB on it (ADR 209), more than half of the usual 2 MB.
const STACK: usize = 4 << 20;

fn on_runtime(command: impl Future<Output = Result<(), HostError>>) -> Result<(), HostError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = cores.clamp(1, WORKERS);
    block_on(Builder::new_multi_thread().worker_threads(workers).thread_stack_size(STACK), Box::pin(command))
}

/// Takes any command as the same type, so that the runtime is not compiled again for each of them.
fn block_on(runtime: &mut Builder, command: LocalBoxFuture<'_, Result<(), HostError>>) -> Result<(), HostError> {
    let runtime = runtime.enable_all().build().map_err(HostError::Serve)?;
    let outcome = runtime.block_on(command);
    // A pending read of stdin must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

/// A number with its noun: `1 fact`, `2 facts`, `2 memories`.
fn counted(count: impl Display, noun: &str) -> String {
    match (count.to_string(), noun.strip_suffix('y')) {
        (count, _) if count == "1" => format!("1 {noun}"),
        (count, Some(stem)) => format!("{count} {stem}ies"),
        (count, None) => format!("{count} {noun}s"),
    }
}

/// Says how many secrets were redacted.
fn redacted(count: u64) -> String {
    if count == 1 { "1 secret was redacted".to_owned() } else { format!("{count} secrets were redacted") }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    /// Commands without --json: their output is a protocol or a script.
    const NO_JSON: [&str; 8] = [
        "butler serve",
        "butler mcp",
        "butler hook session-start",
        "butler hook session-end",
        "butler hook user-prompt",
        "butler completions",
        "butler man",
        "butler help",
    ];

    fn walk(command: &Command, path: &str, visit: &mut dyn FnMut(&Command, &str)) {
        visit(command, path);
        for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help") {
            walk(subcommand, &format!("{path} {}", subcommand.get_name()), visit);
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(
            [counted(1, "fact"), counted(0, "fact"), counted(1.0, "memory"), counted(2_u64, "memory")],
            ["1 fact", "0 facts", "1 memory", "2 memories"]
        );
    }

    #[test]
    fn every_command_has_examples_and_a_json_flag() {
        let mut root = Cli::command();
        root.build();
        let (mut missing, mut leaves) = (Vec::new(), 0);
        walk(&root, "butler", &mut |command, path| {
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            if !examples.contains("Examples:\n  ") {
                missing.push(format!("{path}: no examples"));
            }
            // A longer line wraps in a terminal of 80 columns, and a wrapped command cannot be pasted.
            missing.extend(
                examples.lines().filter(|line| line.chars().count() > 80).map(|line| format!("{path}: {line}")),
            );
            if command.has_subcommands() {
                return;
            }
            leaves += 1;
            let json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
            if json == NO_JSON.contains(&path) {
                missing.push(format!("{path}: --json"));
            }
        });
        assert!(missing.is_empty() && leaves > 40, "{leaves} commands; missing: {missing:#?}");
    }
}
