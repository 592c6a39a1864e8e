//! An error in a butler.toml, shown with the line where it occurs.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::mask::mask;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    pub file: PathBuf,
    pub message: String,
    pub location: Option<Location>,
    pub hint: Option<String>,
}

/// A position in the file; lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub line: usize,
    pub column: usize,
    /// The text of the line, with passwords in URLs masked.
    pub text: String,
    /// Number of characters to mark.
    pub width: usize,
}

impl Location {
    pub fn at(source: &str, span: Range<usize>) -> Self {
        // A span at the end of the file points after the last line break; show the last line instead.
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
        Self { file: file.to_path_buf(), message: message.into(), location: None, hint }
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  --> {}", self.message, self.file.display())?;
        let Some(location) = &self.location else { return Ok(()) };
        let gutter = location.line.to_string().len();
        // Repeat tabs in front of the marker, so that it is aligned with the text.
        let lead: String =
            location.text.chars().take(location.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let marker =
            "^".repeat(location.width.min(location.text.chars().count().saturating_sub(location.column - 1).max(1)));
        write!(f, ":{}:{}", location.line, location.column)?;
        write!(f, "\n{:gutter$} |\n{} | {}\n{:gutter$} | {lead}{marker}", "", location.line, location.text, "")
    }
}

impl std::error::Error for ConfigError {}
