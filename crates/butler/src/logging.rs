//! Writes logs to stderr, as text for people or JSON for machines.

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

/// Initialises logging. `-q` and `-v` override the command's default level, and `BUTLER_LOG` overrides both.
pub fn init(format: LogFormat, default_level: &str, verbose: u8, quiet: bool) -> Result<(), HostError> {
    let own_level = match (quiet, verbose) {
        (true, _) => "error",
        (false, 0) => default_level,
        (false, 1) => "debug",
        (false, _) => "trace",
    };
    // Libraries log every connection at info level, which only helps when debugging them.
    let library_level = if verbose > 1 { "debug" } else { "warn" };
    // A directive matches by prefix, so this one covers all `butler_*` crates.
    let directives = format!("butler={own_level}");
    let filter = match env::var(env::LOG) {
        Some(text) => EnvFilter::try_new(text.to_string_lossy())
            .map_err(|error| HostError::Failed(format!("invalid {}: {error}", env::LOG)))?,
        // sqlx logs slow statements with their full text, and a migration is thousands of lines long.
        None => EnvFilter::new(format!("{library_level},sqlx=error,{directives}")),
    };
    let ansi = std::io::stderr().is_terminal() && env::var(env::NO_COLOR).is_none();
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi);
    // Only tests initialise twice; the first initialisation stays in effect.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}
