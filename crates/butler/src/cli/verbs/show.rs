//! Prints tool results for people.

use butler_domain::text::flatten_line;
use butler_domain::{Clock, SystemClock};
use butler_memory::tool::Answer;
use serde_json::{Map, Value};

use crate::printer::{Colour, Printer};

/// Maximum length of a memory in a list; `get` prints all of it.
const LINE_CHARS: usize = 300;

pub fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub fn number(fields: &Map<String, Value>, key: &str) -> Option<f64> {
    fields.get(key).and_then(Value::as_f64)
}

/// Returns a timestamp as date and minute.
pub fn date(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let time = fields.get(key)?.as_str()?;
    Some(time.get(..16).map_or_else(|| time.to_owned(), |minute| minute.replace('T', " ")))
}

/// Returns the object without its null members.
pub fn without_nulls(value: Value) -> Map<String, Value> {
    let Value::Object(mut map) = value else { return Map::new() };
    map.retain(|_, value| !value.is_null());
    map
}

/// Prints the results of a search or recall.
pub fn print_results(printer: Printer, answer: &Answer) {
    let found = answer.structured.get("results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if found.is_empty() {
        printer.note("no results");
    }
    for hit in found.iter().filter_map(Value::as_object) {
        let kind = printer.on_out(&format!("{:<7}", text(hit, "memory_type")), Colour::Cyan);
        printer.line(format_args!("{:.3}  {kind}  {}", number(hit, "score").unwrap_or_default(), headline(hit)));
        printer.line(printer.on_out(&format!("       {}", details(hit)), Colour::Dim));
    }
}

fn headline(hit: &Map<String, Value>) -> String {
    let content = shortened(&flatten_line(text(hit, "content")));
    match (text(hit, "subject"), text(hit, "predicate")) {
        ("", _) => content,
        (subject, predicate) => format!("{} · {}: {content}", flatten_line(subject), flatten_line(predicate)),
    }
}

fn details(hit: &Map<String, Value>) -> String {
    let mut parts = vec![text(hit, "id").to_owned()];
    parts.extend(
        ["scope", "butler", "maturity"].map(|key| text(hit, key).to_owned()).into_iter().filter(|it| !it.is_empty()),
    );
    parts.extend(number(hit, "confidence").map(|confidence| format!("confidence {confidence:.2}")));
    for state in ["fading", "held"] {
        if hit.get(state) == Some(&Value::Bool(true)) {
            parts.push(state.to_owned());
        }
    }
    parts.extend(period(hit));
    parts.extend(date(hit, "occurred_at").or_else(|| date(hit, "created_at")));
    parts.join("  ")
}

/// When a fact is true, as far as that was stated: `since 2024-03`, `from 2037 until 2040`.
pub fn period(fields: &Map<String, Value>) -> Option<String> {
    let day = |key: &str| match text(fields, key) {
        "" => None,
        when => Some(when.strip_suffix("T00:00:00Z").unwrap_or(when)),
    };
    let start = day("valid_from").map(|when| format!("{} {when}", if is_past(when) { "since" } else { "from" }));
    let end = day("valid_to").map(|when| format!("until {when}"));
    let parts: Vec<String> = start.into_iter().chain(end).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// ISO 8601 dates of any precision sort correctly as text.
fn is_past(when: &str) -> bool {
    when <= SystemClock.now().to_rfc3339().as_str()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Rounds to four decimals, to print `0.5` instead of `0.4999999761759265`.
fn rounded(number: f64) -> String {
    ((number * 1e4).round() / 1e4).to_string()
}

/// Prints all non-empty fields, one per line, and the content last.
pub fn print_fields(printer: Printer, answer: &Answer) {
    let shown: Vec<(&String, &Value)> =
        answer.structured.iter().filter(|(key, value)| *key != "content" && is_set(value)).collect();
    let content = answer.structured.get("content").and_then(Value::as_str);
    let names = shown.iter().map(|(key, _)| key.as_str()).chain(content.map(|_| "content"));
    let width = names.map(str::len).max().unwrap_or_default();
    let label = |key: &str| printer.on_out(&format!("{key:width$}"), Colour::Dim);
    for (key, value) in shown {
        match value {
            Value::Array(items) if items.iter().all(Value::is_object) => {
                for item in items.iter().filter_map(Value::as_object) {
                    printer.line(format_args!("{}  {}", label(key), row(item)));
                }
            }
            value => printer.line(format_args!("{}  {}", label(key), plain(value))),
        }
    }
    match content {
        Some(content) if content.contains('\n') => printer.line(format_args!("{}\n{content}", label("content"))),
        Some(content) => printer.line(format_args!("{}  {content}", label("content"))),
        None => {}
    }
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// A value on one line, without JSON syntax where possible.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => flatten_line(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or_default()),
        other => other.to_string(),
    }
}

/// An item of a list on one line: a period of a timeline, or all fields that are not empty.
fn row(item: &Map<String, Value>) -> String {
    match (text(item, "when"), text(item, "content")) {
        ("", _) | (_, "") => pairs(item),
        (when, content) => {
            let mut parts = vec![format!("{when}: {}", shortened(&flatten_line(content)))];
            parts.extend(period(item));
            parts.push(text(item, "id").to_owned());
            parts.join("  ")
        }
    }
}

/// The fields that are neither empty nor zero: `tenant id default, episodes 3`.
pub fn pairs(item: &Map<String, Value>) -> String {
    let told = |value: &Value| is_set(value) && value.as_f64() != Some(0.0);
    let pairs = item.iter().filter(|(_, value)| told(value));
    pairs.map(|(key, value)| format!("{} {}", key.replace('_', " "), plain(value))).collect::<Vec<_>>().join(", ")
}
