//! Prints tool results for people.

use butler_domain::text::flatten_line;
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
    for (word, key) in [("from", "valid_from"), ("until", "valid_to")] {
        match text(hit, key) {
            "" => {}
            when => parts.push(format!("{word} {}", when.strip_suffix("T00:00:00Z").unwrap_or(when))),
        }
    }
    parts.extend(date(hit, "occurred_at").or_else(|| date(hit, "created_at")));
    parts.join("  ")
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
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let shown: Vec<(&String, &Value)> =
        answer.structured.iter().filter(|(key, value)| *key != "content" && is_set(value)).collect();
    let width = shown.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
    for (key, value) in shown {
        let value = match value {
            Value::String(text) => flatten_line(text),
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            Value::Number(number) if number.is_f64() => rounded(number.as_f64().unwrap_or_default()),
            other => other.to_string(),
        };
        printer.line(format_args!("{}  {value}", printer.on_out(&format!("{key:width$}"), Colour::Dim)));
    }
    if let Some(Value::String(content)) = answer.structured.get("content") {
        printer.line(format_args!("\n{content}"));
    }
}
