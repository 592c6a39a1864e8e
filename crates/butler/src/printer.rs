//! The one place human output goes through: results on stdout, everything else on stderr, colour only on a terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use butler_host::env;
use butler_host::error::HostError;
use serde::Serialize;

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
        let wanted = env::var(env::NO_COLOR).is_none();
        Self {
            quiet,
            colour_out: wanted && io::stdout().is_terminal(),
            colour_err: wanted && io::stderr().is_terminal(),
        }
    }

    /// A result: what the command was asked for.
    pub fn line(&self, text: impl Display) {
        write_line(&mut io::stdout().lock(), text);
    }

    pub fn json(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.line(text),
            Err(error) => self.note(format_args!("the answer cannot be written as JSON: {error}")),
        }
    }

    /// What a person at the terminal may want to know; silent with `--quiet`.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            write_line(&mut io::stderr().lock(), text);
        }
    }

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

    /// The text in a colour if stdout shows colours.
    pub fn on_out(&self, text: &str, colour: Colour) -> String {
        paint(self.colour_out, text, colour)
    }

    fn on_err(&self, text: &str, colour: Colour) -> String {
        paint(self.colour_err, text, colour)
    }
}

fn paint(wanted: bool, text: &str, colour: Colour) -> String {
    if wanted { format!("\x1b[{}m{text}\x1b[0m", colour.code()) } else { text.to_owned() }
}

/// Whoever reads us may stop reading (`butler doctor | head -1`); there is nobody left to tell.
fn write_line(to: &mut impl Write, text: impl Display) {
    let _ = writeln!(to, "{text}").and_then(|()| to.flush());
}
