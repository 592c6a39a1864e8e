//! Edits one table of a TOML file. A block is the table `[servers.butler-memory]` with the tables inside it.

use std::ops::Range;

use butler_host::session::SERVER_NAME;
use serde_json::{Value, json};
use toml::Table;

use super::{append, cut, entry_path};
use crate::cli::connect::json::EditError;

/// Tables are separated by an empty line.
const SEPARATOR: &str = "\n";

pub fn entry(text: &str, servers: &[&str]) -> Result<Option<Value>, EditError> {
    let path = entry_path(servers);
    let mut value = toml::Value::Table(parse(text)?);
    for key in &path {
        let Some(inner) = value.get(*key) else { return Ok(None) };
        value = inner.clone();
    }
    Ok(serde_json::to_value(value).ok())
}

pub fn with_entry(text: &str, servers: &[&str], entry: &Value) -> Result<String, EditError> {
    let table = rendered(servers, entry);
    if self::entry(text, servers)?.is_none() {
        return Ok(append(text, &table, SEPARATOR));
    }
    let block = block(text, servers)?;
    let table = if text[block.clone()].ends_with('\n') { &table } else { table.trim_end() };
    Ok(format!("{}{table}{}", &text[..block.start], &text[block.end..]))
}

pub fn without_entry(text: &str, servers: &[&str]) -> Result<String, EditError> {
    Ok(cut(text, block(text, servers)?, SEPARATOR))
}

fn rendered(servers: &[&str], entry: &Value) -> String {
    let whole = entry_path(servers).iter().rev().fold(entry.clone(), |value, key| json!({ *key: value }));
    // JSON without null always has a form in TOML.
    toml::to_string(&whole).unwrap_or_default()
}

/// The lines of the table, without the empty lines and comments that lead to the next table.
pub fn block(text: &str, servers: &[&str]) -> Result<Range<usize>, EditError> {
    let name = entry_path(servers).join(".");
    let unusual = || EditError::WrongType(name.clone(), "a table of its own, so it cannot be edited");
    let headers = headers(text);
    let own = |at: usize| is_own(&text[at..], servers);
    let first = headers.iter().position(|at| own(*at)).ok_or_else(unusual)?;
    let count = headers[first..].iter().take_while(|at| own(**at)).count();
    if headers[first + count..].iter().any(|at| own(*at)) {
        return Err(unusual());
    }
    let end = headers.get(first + count).copied().unwrap_or(text.len());
    let mut kept = headers[first];
    let mut at = kept;
    for line in text[kept..end].split_inclusive('\n') {
        at += line.len();
        if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            kept = at;
        }
    }
    Ok(headers[first]..kept)
}

/// Where tables start. A bracket inside a string or an array over several lines is none: the text before it is incomplete.
fn headers(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') && line.parse::<Table>().is_ok() && text[..at].parse::<Table>().is_ok() {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

/// Whether the header at the start of the text belongs to butler's table.
fn is_own(text: &str, servers: &[&str]) -> bool {
    let Ok(mut table) = text.lines().next().unwrap_or_default().parse::<Table>() else { return false };
    for key in servers {
        match table.remove(*key) {
            Some(toml::Value::Table(inner)) => table = inner,
            _ => return false,
        }
    }
    table.contains_key(SERVER_NAME)
}

fn parse(text: &str) -> Result<Table, EditError> {
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        EditError::Syntax { line: before.matches('\n').count() + 1, column, reason: "this is not valid TOML" }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: &[&str] = &["mcp_servers"];

    #[test]
    fn adding_and_removing_a_table_restores_the_text() {
        let entry = json!({"command": "/bin/butler", "args": ["mcp"], "http_headers": {"Authorization": "Bearer x"}});
        for text in [
            "",
            "model = \"o\" # mine\n",
            "model = \"o\"",
            "# top\n[mcp_servers.other]\ncommand = \"x\" # keep\nargs = [\n  \"[mcp_servers.butler-memory]\",\n]\n\n",
            "notes = \"\"\"\n[mcp_servers.butler-memory]\n\"\"\"\n[profiles.a]\nmodel = \"b\"\n# end",
        ] {
            let added = with_entry(text, SERVERS, &entry).unwrap();
            assert_eq!(super::entry(&added, SERVERS).unwrap(), Some(entry.clone()), "{added}");
            assert_eq!(without_entry(&added, SERVERS).unwrap(), text, "via\n{added}");
            let replaced = with_entry(&added, SERVERS, &json!({"url": "http://127.0.0.1:1/mcp"})).unwrap();
            assert_eq!(without_entry(&replaced, SERVERS).unwrap(), text, "via\n{replaced}");
        }
    }

    #[test]
    fn tables_that_follow_stay_with_their_comments() {
        let text = "[mcp_servers.butler-memory]\ncommand = \"x\"\n\n# about b\n[mcp_servers.b]\ncommand = \"y\"\n";
        let removed = without_entry(text, SERVERS).unwrap();
        assert_eq!(removed.trim_start(), "# about b\n[mcp_servers.b]\ncommand = \"y\"\n");
    }

    #[test]
    fn an_entry_in_another_style_is_rejected() {
        let inline = "mcp_servers = { butler-memory = { command = \"x\" } }\n";
        assert!(without_entry(inline, SERVERS).is_err());
        assert!(matches!(super::entry("a = \nb = 1", SERVERS), Err(EditError::Syntax { line: 1, .. })));
    }
}
