//! Edits one entry of a YAML file whose servers are an indented block at the top level, as Goose writes it.

use std::ops::Range;

use butler_host::session::SERVER_NAME;
use serde_json::{Map, Value};

use super::{append, cut};
use crate::cli::connect::json::EditError;

/// Indentation of a new block.
const INDENT: &str = "  ";

pub fn entry(text: &str, servers: &[&str]) -> Result<Option<Value>, EditError> {
    let Some(entry) = block(text, servers)? else { return Ok(None) };
    // Values that butler wrote are JSON. A value in another style is kept as text, so it differs and is written again.
    let fields = text[entry].lines().skip(1).filter_map(|line| line.trim().split_once(": ")).map(|(key, value)| {
        (key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned())))
    });
    Ok(Some(Value::Object(fields.collect::<Map<_, _>>())))
}

pub fn with_entry(text: &str, servers: &[&str], entry: &Value) -> Result<String, EditError> {
    let Some(section) = Section::find(text, servers)? else {
        let block = format!("{}:\n{}", servers.join("."), rendered(entry, INDENT));
        return Ok(append(text, &block, ""));
    };
    let block = rendered(entry, &section.indent);
    if let Some(old) = section.entry(text) {
        let block = if text[old.clone()].ends_with('\n') { &block } else { block.trim_end() };
        return Ok(format!("{}{block}{}", &text[..old.start], &text[old.end..]));
    }
    let (before, after) = text.split_at(section.span.end);
    Ok(format!("{}{after}", append(before, &block, "")))
}

pub fn without_entry(text: &str, servers: &[&str]) -> Result<String, EditError> {
    let Some(section) = Section::find(text, servers)? else { return Ok(text.to_owned()) };
    let Some(entry) = section.entry(text) else { return Ok(text.to_owned()) };
    let inner = text[section.span.clone()].lines().count() - 1;
    let is_only = text[entry.clone()].lines().count() == inner;
    Ok(cut(text, if is_only { section.span } else { entry }, ""))
}

/// The lines of butler's entry.
pub fn block(text: &str, servers: &[&str]) -> Result<Option<Range<usize>>, EditError> {
    Ok(Section::find(text, servers)?.and_then(|section| section.entry(text)))
}

/// JSON is YAML in flow style, so each field is one line.
fn rendered(entry: &Value, indent: &str) -> String {
    let mut block = format!("{indent}{SERVER_NAME}:\n");
    for (key, value) in entry.as_object().into_iter().flatten() {
        block.push_str(&format!("{indent}{indent}{key}: {value}\n"));
    }
    block
}

/// The block of a key at the top level.
struct Section {
    span: Range<usize>,
    /// Indentation of its entries.
    indent: String,
}

impl Section {
    fn find(text: &str, servers: &[&str]) -> Result<Option<Self>, EditError> {
        let key = format!("{}:", servers.join("."));
        let unusual = || EditError::WrongType(servers.join("."), "an indented block, so it cannot be edited");
        if text.lines().any(|line| line.starts_with('\t') || line.starts_with('{')) {
            return Err(EditError::WrongType("the file".to_owned(), "YAML in block style, so it cannot be edited"));
        }
        let mut at = 0;
        let mut found: Option<Self> = None;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let content = line.trim();
            match &mut found {
                None => {
                    let Some(rest) = line.strip_prefix(&key) else { continue };
                    if !rest.trim().is_empty() && !rest.trim().starts_with('#') {
                        return Err(unusual());
                    }
                    found = Some(Self { span: start..at, indent: String::new() });
                }
                Some(_) if content.is_empty() || content.starts_with('#') => {}
                Some(_) if line.starts_with('-') => return Err(unusual()),
                Some(section) if line.starts_with(' ') => {
                    if section.indent.is_empty() {
                        section.indent = indentation(line).to_owned();
                    }
                    section.span.end = at;
                }
                Some(_) => break,
            }
        }
        Ok(found.map(|mut section| {
            if section.indent.is_empty() {
                section.indent = INDENT.to_owned();
            }
            section
        }))
    }

    /// The lines of butler's entry.
    fn entry(&self, text: &str) -> Option<Range<usize>> {
        let head = format!("{}{SERVER_NAME}:", self.indent);
        let mut at = self.span.start;
        let mut found: Option<Range<usize>> = None;
        for line in text[self.span.clone()].split_inclusive('\n') {
            let start = at;
            at += line.len();
            match &mut found {
                None if line.trim_end() == head => found = Some(start..at),
                None => {}
                Some(_) if line.trim().is_empty() || line.trim().starts_with('#') => {}
                Some(entry) if indentation(line).len() > self.indent.len() => entry.end = at,
                // A list may be as deep as its key, but the entry's own key holds a mapping.
                Some(_) => break,
            }
        }
        found
    }
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SERVERS: &[&str] = &["extensions"];

    #[test]
    fn adding_and_removing_an_entry_restores_the_text() {
        let entry = json!({"type": "stdio", "cmd": "/bin/butler", "args": ["mcp"], "envs": {}, "enabled": true});
        for text in [
            "",
            "GOOSE_MODEL: a # mine\n",
            "GOOSE_MODEL: a",
            "extensions:\n  developer: # keep\n    enabled: true\n    args:\n    - -y\n\n# about b\nb: 1\n",
            "# top\nextensions:\n    developer:\n        enabled: true",
        ] {
            let added = with_entry(text, SERVERS, &entry).unwrap();
            assert_eq!(super::entry(&added, SERVERS).unwrap(), Some(entry.clone()), "{added}");
            assert_eq!(without_entry(&added, SERVERS).unwrap(), text, "via\n{added}");
            let replaced = with_entry(&added, SERVERS, &json!({"uri": "http://127.0.0.1:1/mcp"})).unwrap();
            assert_eq!(without_entry(&replaced, SERVERS).unwrap(), text, "via\n{replaced}");
        }
    }

    #[test]
    fn an_entry_that_goose_wrote_again_is_removed() {
        let text = "extensions:\n  a:\n    enabled: true\n  butler-memory:\n    type: stdio\n    args:\n    - mcp\n  z:\n    enabled: true\n";
        assert!(super::entry(text, SERVERS).unwrap().is_some());
        let removed = without_entry(text, SERVERS).unwrap();
        assert_eq!(removed, "extensions:\n  a:\n    enabled: true\n  z:\n    enabled: true\n");
    }

    #[test]
    fn other_styles_are_rejected() {
        for text in ["extensions: {}\n", "extensions: {a: {}}\n", "{extensions: {}}\n"] {
            assert!(with_entry(text, SERVERS, &json!({"a": 1})).is_err(), "{text}");
        }
    }
}
