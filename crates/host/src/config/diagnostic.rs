//! A mistake in a butler.toml, shown at its place.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::mask::mask;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub file: PathBuf,
    pub message: String,
    pub place: Option<Place>,
    pub hint: Option<String>,
}

/// Where in the file; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
    /// The line itself, with the passwords of URLs masked.
    pub text: String,
    /// How many characters are wrong.
    pub width: usize,
}

impl Place {
    pub fn at(source: &str, span: Range<usize>) -> Self {
        // A span at the end of the file points behind the last line break; the last line is what the reader looks for.
        let start = span.start.min(source.trim_end().len());
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let text = source[line_start..].lines().next().unwrap_or_default();
        let column = source[line_start..start].chars().count() + 1;
        let end = span.end.clamp(start, line_start + text.len().max(start - line_start));
        let width = source[start..end].chars().count().max(1);
        Self { line: source[..line_start].matches('\n').count() + 1, column, text: mask(text), width }
    }
}

impl ConfigError {
    pub fn whole_file(file: &Path, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { file: file.to_path_buf(), message: message.into(), place: None, hint }
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  --> {}", self.message, self.file.display())?;
        let Some(place) = &self.place else { return Ok(()) };
        let gutter = place.line.to_string().len();
        // A tab is as wide in the marker's line as in the text's.
        let lead: String =
            place.text.chars().take(place.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marker = "^".repeat(place.width.min(place.text.chars().count().saturating_sub(place.column - 1).max(1)));
        write!(f, ":{}:{}", place.line, place.column)?;
        write!(f, "\n{:gutter$} |\n{} | {}\n{:gutter$} | {lead}{marker}", "", place.line, place.text, "")
    }
}

impl std::error::Error for ConfigError {}
