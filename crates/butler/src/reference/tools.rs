use std::fmt::Write;

use butler_memory::tool::ToolSpec;
use serde_json::Value;

use super::{MADE, cell};

/// Every MCP tool with its arguments and its answer.
pub fn tools() -> String {
    let tools = butler_memory::tools();
    let specs: Vec<&ToolSpec> = tools.iter().map(|tool| &**tool.spec()).collect();
    let mut page = format!(
        "{MADE}\n# MCP tools\n\nAll accept `request_context`: an object with `request_id`, which comes back in the answer \
         and stands in every event the call\nwrote, and, without tokens, `tenant_id`. Bad input is a tool error \
         `{{\"error\": code, \"message\", \"hint\"}}`; nothing is written.\nCodes: `invalid_argument`, `not_found`, \
         `invalid_state`, `conflict`, `forbidden` (the token lacks the right), `unavailable` (try again), `internal`.\n\n"
    );
    for spec in &specs {
        let _ = writeln!(page, "- [{0}](#{0}): {1}", spec.name, spec.title);
    }
    for spec in &specs {
        let _ = write!(page, "\n## {}\n\n{}\n\n{}.\n", spec.name, spec.description, hints(spec));
        table(&mut page, "argument", &spec.input_schema);
        table(&mut page, "answer", &spec.output_schema);
    }
    page
}

fn hints(spec: &ToolSpec) -> String {
    let hints = spec.annotations;
    let say = |is: bool, yes: &str, no: &str| if is { yes.to_owned() } else { no.to_owned() };
    [
        say(hints.read_only, "Reads only", "Writes"),
        say(hints.destructive, "may replace or retire what was there", "takes nothing away"),
        say(hints.idempotent, "repeating it changes nothing more", "each call counts"),
    ]
    .join("; ")
}

fn table(page: &mut String, title: &str, schema: &serde_json::Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        // One of several kinds of memory: each has its own fields.
        page.push_str("\nThe answer holds the fields of the memory, by its type.\n");
        return;
    };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let _ = write!(page, "\n| {title} | type | |\n|---|---|---|\n");
    for (name, property) in properties.iter().filter(|(name, _)| *name != "request_context") {
        let needed = if title == "argument" && required.contains(&name.as_str()) { " (required)" } else { "" };
        let about = cell(property["description"].as_str().unwrap_or_default());
        let _ = writeln!(page, "| `{name}`{needed} | {} | {about} |", kind(property));
    }
}

/// A type in a word or two.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array().or_else(|| schema["oneOf"].as_array()) {
        let word = |word: &Value| {
            let word = if word.is_object() { &word["const"] } else { word };
            word.as_str().map(|text| format!("`{text}`"))
        };
        let words: Vec<String> = words.iter().filter_map(word).collect();
        if !words.is_empty() {
            return words.join(", ");
        }
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().filter(|choice| choice["type"] != "null").map(kind).collect::<Vec<_>>().join(" or ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => Vec::new(),
    };
    let format = schema["format"].as_str().unwrap_or_default();
    let words: Vec<String> = types
        .into_iter()
        .map(|name| match (name, format) {
            ("string", "uuid") => "UUID".to_owned(),
            ("string", "date-time") => "time".to_owned(),
            ("string", _) => "text".to_owned(),
            ("integer", _) => "whole number".to_owned(),
            ("boolean", _) => "true or false".to_owned(),
            ("array", _) => format!("list of {}", kind(&schema["items"])),
            (other, _) => other.to_owned(),
        })
        .collect();
    if words.is_empty() { "any".to_owned() } else { words.join(" or ") }
}
