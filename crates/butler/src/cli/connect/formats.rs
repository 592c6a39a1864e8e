//! The formats of configuration files. Each adds and removes butler's entry and leaves every other byte unchanged.

mod toml;
mod yaml;

use std::ops::Range;

use butler_host::session::SERVER_NAME;
use serde_json::{Value, json};

use super::json::{Document, EditError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    Toml,
    Yaml,
}

impl Format {
    /// Butler's entry among the servers at this path.
    pub fn entry(self, text: &str, servers: &[&str]) -> Result<Option<Value>, EditError> {
        match self {
            Self::Json | Self::JsonWithComments => Ok(self.document(text)?.get(&entry_path(servers))),
            Self::Toml => toml::entry(text, servers),
            Self::Yaml => yaml::entry(text, servers),
        }
    }

    /// The text with this entry, which replaces an older one.
    pub fn with_entry(self, text: &str, servers: &[&str], entry: &Value) -> Result<String, EditError> {
        if self.entry(text, servers)?.as_ref() == Some(entry) {
            return Ok(text.to_owned());
        }
        match self {
            Self::Json | Self::JsonWithComments => {
                let mut document = self.document(text)?;
                document.set(&entry_path(servers), entry)?;
                Ok(document.text().to_owned())
            }
            Self::Toml => toml::with_entry(text, servers, entry),
            Self::Yaml => yaml::with_entry(text, servers, entry),
        }
    }

    /// The text without the entry and without parents that the removal leaves empty.
    pub fn without_entry(self, text: &str, servers: &[&str]) -> Result<String, EditError> {
        if self.entry(text, servers)?.is_none() {
            return Ok(text.to_owned());
        }
        match self {
            Self::Json | Self::JsonWithComments => {
                let mut document = self.document(text)?;
                document.remove(&entry_path(servers))?;
                for length in (1..=servers.len()).rev() {
                    if document.get(&servers[..length]) != Some(json!({})) {
                        break;
                    }
                    document.remove(&servers[..length])?;
                }
                Ok(document.text().to_owned())
            }
            Self::Toml => toml::without_entry(text, servers),
            Self::Yaml => yaml::without_entry(text, servers),
        }
    }

    /// Where the lines of butler's entry are; `None` if there is none, or for JSON, which is edited as a document.
    pub fn span(self, text: &str, servers: &[&str]) -> Option<Range<usize>> {
        match self {
            Self::Json | Self::JsonWithComments => None,
            Self::Toml => toml::block(text, servers).ok(),
            Self::Yaml => yaml::block(text, servers).ok()?,
        }
    }

    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::JsonWithComments)
    }

    pub fn document(self, text: &str) -> Result<Document, EditError> {
        Document::new(text, self == Self::JsonWithComments)
    }
}

fn entry_path<'a>(servers: &[&'a str]) -> Vec<&'a str> {
    servers.iter().copied().chain([SERVER_NAME]).collect()
}

/// Adds a block to the end of a file. If the file lacks the last line break, so does the block: [`cut`] relies on it.
fn append(text: &str, block: &str, separator: &str) -> String {
    match text {
        "" => block.to_owned(),
        text if text.ends_with('\n') => format!("{text}{separator}{block}"),
        text => format!("{text}\n{separator}{}", block.trim_end()),
    }
}

/// Removes a block that [`append`] added, together with its separator.
fn cut(text: &str, block: Range<usize>, separator: &str) -> String {
    let (mut before, after) = (&text[..block.start], &text[block.end..]);
    // Without an empty line before the block, the line break belongs to the line above.
    if before.ends_with("\n\n") {
        before = before.strip_suffix(separator).unwrap_or(before);
    }
    if after.is_empty() && !text.ends_with('\n') {
        before = before.strip_suffix('\n').unwrap_or(before);
    }
    format!("{before}{after}")
}
