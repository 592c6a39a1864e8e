//! All output of commands: results on stdout, everything else on stderr, colour only on a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use butler_host::env;
use butler_host::error::HostError;
use serde::Serialize;

use crate::visible::visible;

#[derive(Debug, Clone, Copy)]
pub struct Printer {
    quiet: bool,
    colour_out: bool,
    colour_err: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum Colour {
    Red,
    Green,
    Yellow,
    Cyan,
    Dim,
    Bold,
}

impl Colour {
    const fn code(self) -> &'static str {
        match self {
            Self::Red => "1;31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
            Self::Dim => "2",
            Self::Bold => "1",
        }
    }
}

impl Printer {
    pub fn new(quiet: bool) -> Self {
        let allowed = env::var(env::NO_COLOR).is_none();
        Self {
            quiet,
            colour_out: allowed && io::stdout().is_terminal(),
            colour_err: allowed && io::stderr().is_terminal(),
        }
    }

    /// Prints a line of the command's result to stdout.
    pub fn line(&self, text: impl Display) {
        write_line(&mut io::stdout().lock(), text);
    }

    pub fn json(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
            Err(error) => self.note(format_args!("cannot write the result as JSON: {error}")),
        }
    }

    /// Prints additional information to stderr, unless `--quiet` is given.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            write_line(&mut io::stderr().lock(), text);
        }
    }

    /// Prints an error with its causes and its hint to stderr.
    pub fn error(&self, error: &HostError) {
        let mut stderr = io::stderr().lock();
        write_line(&mut stderr, format_args!("{} {error}", self.on_err("error:", Colour::Red)));
        for cause in error.causes() {
            write_line(&mut stderr, format_args!("  caused by: {cause}"));
        }
        if let Some(hint) = error.hint() {
            write_line(&mut stderr, format_args!("{} {hint}", self.on_err("hint:", Colour::Cyan)));
        }
    }

    /// Colours the text if stdout is a terminal that shows colours.
    pub fn on_out(&self, text: &str, colour: Colour) -> String {
        paint(self.colour_out, text, colour)
    }

    fn on_err(&self, text: &str, colour: Colour) -> String {
        paint(self.colour_err, text, colour)
    }
}

fn paint(enabled: bool, text: &str, colour: Colour) -> String {
    if enabled { format!("\x1b[{}m{text}\x1b[0m", colour.code()) } else { text.to_owned() }
}

/// Ignores write errors: the reader may close the pipe early, as in `butler doctor | head -1`.
fn write_line(to: &mut impl Write, text: impl Display) {
    let _ = writeln!(to, "{}", visible(&text.to_string())).and_then(|()| to.flush());
}
