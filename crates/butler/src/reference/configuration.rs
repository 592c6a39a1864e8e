use std::fmt::Write;

use butler_host::config::File;
use clap::CommandFactory;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::tools::kind;
use super::{MADE, cell};
use crate::cli::Cli;

/// Every key of a butler.toml, every flag and variable of the host.
pub fn configuration() -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<File>().to_value();
    let defaults = serde_json::to_value(File::default()).unwrap_or_default();
    let mut page = format!(
        "{MADE}\n# Configuration\n\nNone is needed. `--config FILE` names the butler.toml of one butler, `--roster DIR` a \
         folder with one folder a butler, each\nwith a butler.toml and optionally CLAUDE.md or AGENTS.md (its system \
         prompt). `butler config show` prints every value and\nwhere it came from. An unknown key or a value that cannot \
         work stops the start with the file, the line and the nearest\nvalid key.\n\n## butler.toml\n"
    );
    section(&mut page, "", &schema, &defaults);
    page.push_str("\n## Flags and environment variables\n\n| flag | variable | |\n|---|---|---|\n");
    let mut root = Cli::command();
    root.build();
    for argument in root.get_arguments().filter(|argument| argument.is_global_set()) {
        let Some(flag) = argument.get_long() else { continue };
        let variable = argument.get_env().map_or_else(String::new, |name| format!("`{}`", name.to_string_lossy()));
        let about = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "| `--{flag}` | {variable} | {} |", cell(&about));
    }
    page
}

/// The plain keys of a table, then the tables below it.
fn section(page: &mut String, path: &str, schema: &Value, defaults: &Value) {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let (tables, keys): (Vec<_>, Vec<_>) = properties.iter().partition(|(_, property)| table_of(property).is_some());
    if !keys.is_empty() {
        let _ = write!(page, "\n### [{path}]\n\n");
        if let Some(about) = schema["description"].as_str() {
            let _ = write!(page, "{}\n\n", cell(about));
        }
        page.push_str("| key | type | default | |\n|---|---|---|---|\n");
    }
    for (key, property) in keys {
        let default = match &defaults[key.as_str()] {
            Value::Null => {
                property.get("default").filter(|it| !it.is_null()).map(|it| format!("`{it}`")).unwrap_or_default()
            }
            value => format!("`{value}`"),
        };
        let about = cell(property["description"].as_str().unwrap_or_default());
        let _ = writeln!(page, "| `{key}` | {} | {default} | {about} |", kind(property));
    }
    for (key, property) in tables {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let mut table = table_of(property).cloned().unwrap_or_default();
        if let Some(about) = property.get("description") {
            table["description"] = json!(about);
        }
        section(page, &path, &table, &defaults[key.as_str()]);
    }
}

/// The schema of a table, also of one that may be left out.
fn table_of(property: &Value) -> Option<&Value> {
    let is_table = |schema: &&Value| schema["properties"].is_object();
    if is_table(&property) {
        return Some(property);
    }
    property["anyOf"].as_array()?.iter().find(is_table)
}
