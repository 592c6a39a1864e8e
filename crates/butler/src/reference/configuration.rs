use std::fmt::Write;

use butler_host::config::File;
use clap::CommandFactory;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::tools::kind;
use super::{GENERATED, cell};
use crate::cli::Cli;

/// The page with every key of butler.toml and every global flag and environment variable.
pub fn configuration() -> String {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<File>().to_value();
    let defaults = serde_json::to_value(File::default()).unwrap_or_default();
    let mut page = format!(
        "{GENERATED}\n# Configuration\n\nButler runs without any configuration. `--config FILE` names the butler.toml of one butler. \
         `--roster DIR` names a\ndirectory with one subdirectory per butler, each with a butler.toml and optionally a \
         CLAUDE.md or AGENTS.md (its system\nprompt). `butler config show` prints every value and where it comes from. \
         An unknown key or an invalid value stops the\nstart with an error that names the file, the line and the nearest \
         valid key.\n\n## butler.toml\n"
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

/// Writes the keys of a TOML table, then its subtables.
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

/// Returns the schema if the property is a TOML table, required or optional.
fn table_of(property: &Value) -> Option<&Value> {
    let is_table = |schema: &&Value| schema["properties"].is_object();
    if is_table(&property) {
        return Some(property);
    }
    property["anyOf"].as_array()?.iter().find(is_table)
}
