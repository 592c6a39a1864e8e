//! Logs: to stderr, as text for people or JSON for machines.

use std::io::IsTerminal;

use butler_host::env;
use butler_host::error::HostError;
use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// How much is said: `-q` less, `-v` more.
pub fn init(format: LogFormat, default_level: &str, verbose: u8, quiet: bool) -> Result<(), HostError> {
    let ours = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => default_level,
        (false, 1) => "debug",
        (false, _) => "trace",
    };
    // What the libraries below say about each connection is of interest only when looking for a fault in them.
    let theirs = if verbose > 1 { "debug" } else { "warn" };
    // A directive covers every target that begins with its name, so this one covers all of our crates.
    let directives = format!("butler={ours}");
    let filter = match env::var(env::LOG) {
        Some(text) => EnvFilter::try_new(text.to_string_lossy())
            .map_err(|error| HostError::Failed(format!("{} cannot be used: {error}", env::LOG)))?,
        // A slow statement is logged with its whole text, and a migration's is a book.
        None => EnvFilter::new(format!("{theirs},sqlx=error,{directives}")),
    };
    let ansi = std::io::stderr().is_terminal() && env::var(env::NO_COLOR).is_none();
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi);
    // A second initialisation happens only in tests, where the first one serves.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}
