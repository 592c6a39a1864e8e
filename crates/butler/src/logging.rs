//! Writes logs to stderr, as text for people or JSON for machines.

use std::io::{self, IsTerminal, Write};

use butler_domain::secrets::Redactor;
use butler_host::env;
use butler_host::error::HostError;
use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

use crate::visible::visible;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Libraries whose messages contain memory: rmcp logs requests and responses, and sqlx statements. A migration would
/// also be thousands of lines long.
const SILENT: [&str; 2] = ["rmcp", "sqlx"];

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
    let chosen = env::var(env::LOG).map(|text| text.to_string_lossy().into_owned());
    let filter = filter(&chosen.unwrap_or_else(|| format!("{library_level},{directives}")))
        .map_err(|error| HostError::Failed(format!("invalid {}: {error}", env::LOG)))?;
    let ansi = std::io::stderr().is_terminal() && env::var(env::NO_COLOR).is_none();
    let builder = fmt().with_env_filter(filter).with_writer(|| VisibleStderr).with_ansi(ansi);
    // Only tests initialise twice; the first initialisation stays in effect.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    Ok(())
}

/// The filter for these directives. The libraries that log memory stay silent unless a directive names them.
fn filter(directives: &str) -> Result<EnvFilter, tracing_subscriber::filter::ParseError> {
    let silent: Vec<String> = SILENT
        .iter()
        .filter(|library| !directives.contains(*library))
        .map(|library| format!(",{library}=error"))
        .collect();
    EnvFilter::try_new(format!("{directives}{}", silent.concat()))
}

/// Writes each record without secrets, and so that its text can neither control the terminal nor look like another
/// record: lines after the first are indented. Memory is never logged, so this redaction is a second safeguard with the
/// standard rules only.
struct VisibleStderr;

impl Write for VisibleStderr {
    /// The subscriber passes one record at a time.
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write_all(shown(&String::from_utf8_lossy(record)).as_bytes())?;
        Ok(record.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

fn shown(record: &str) -> String {
    let (text, end) = record.strip_suffix('\n').map_or((record, ""), |text| (text, "\n"));
    let text = Redactor::standard().redact(text).text;
    format!("{}{end}", visible(&text).replace('\n', "\n    "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cannot_forge_another_one() {
        let forged = "2026-01-01 WARN failed: x\n2026-01-01 ERROR all is lost\x1b[2J\n";
        assert_eq!(shown(forged), "2026-01-01 WARN failed: x\n    2026-01-01 ERROR all is lost\\u001b[2J\n");
    }

    #[test]
    fn a_record_contains_no_secret_also_in_colours() {
        let key = ["ghp", "_5gJ2kLq8Xn4Vb7Rt1Zw9Yc3Md6Fh0Ps2Qa4E"].concat();
        for record in
            [format!("WARN failed: {key}\n"), format!("{{\"id\":\"{key}\"}}"), format!("\x1b[2m=\x1b[0m{key}")]
        {
            let shown = shown(&record);
            assert!(!shown.contains(&key) && shown.contains("[redacted: github token]"), "{shown}");
        }
    }

    #[test]
    fn libraries_that_log_memory_are_silent_unless_named() {
        assert!(filter("debug").unwrap().to_string().contains("rmcp=error"));
        assert!(filter("trace,rmcp=debug").unwrap().to_string().contains("rmcp=debug"));
        assert!(filter("a=b=c").is_err());
    }
}
