//! Maps dotted keys to positions in the TOML source, and back.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// Every key that the file sets, as a dotted path.
pub fn keys(table: &DeTable<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(table, "", &mut found);
    found
}

fn collect(table: &DeTable<'_>, prefix: &str, found: &mut BTreeSet<String>) {
    for (key, value) in table {
        let path = join(prefix, key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, &path, found),
            _ => {
                found.insert(path);
            }
        }
    }
}

/// The position of a key's value. If the file does not contain the key, the position of the nearest enclosing table.
pub fn span_of(table: &DeTable<'_>, path: &str) -> Option<Range<usize>> {
    let (head, tail) = path.split_once('.').map_or((path, None), |(head, tail)| (head, Some(tail)));
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == head)?;
    let below = tail.and_then(|tail| match value.get_ref() {
        DeValue::Table(inner) => span_of(inner, tail),
        _ => None,
    });
    below.or_else(|| Some(if value.get_ref().is_table() { key.span() } else { value.span() }))
}

/// The dotted path of the key or value that starts at this position.
pub fn path_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let here = key.get_ref().to_string();
        let inner = match value.get_ref() {
            DeValue::Table(inner) => path_at(inner, span).map(|below| join(&here, &below)),
            _ => None,
        };
        inner.or_else(|| (key.span().start == span.start || value.span().start == span.start).then_some(here))
    })
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") }
}
