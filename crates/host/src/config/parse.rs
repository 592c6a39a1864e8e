//! Parses and validates a butler.toml. Errors show the line and suggest the nearest valid name.

use std::collections::BTreeSet;
use std::path::Path;

use butler_memory::schedule::Schedule;
use toml::de::DeTable;

use super::diagnostic::{ConfigError, Location};
use super::file::{DatabaseSection, File, RuntimeSection, RuntimeType, SessionSection};
use super::locate;
use crate::duration::duration;
use crate::env;

/// A parsed file and the keys that it sets explicitly.
#[derive(Debug)]
pub struct Parsed {
    pub file: File,
    pub set: BTreeSet<String>,
}

pub fn parse(path: &Path, source: &str) -> Result<Parsed, ConfigError> {
    let table = DeTable::parse(source).map_err(|error| syntax(path, source, &error))?;
    let table = table.get_ref();
    let file: File = toml::from_str(source).map_err(|error| mismatch(path, source, table, &error))?;
    validate(&file).map_err(|invalid| {
        let location = locate::span_of(table, &invalid.key).map(|span| Location::at(source, span));
        let message = format!("{} {}", invalid.key, invalid.problem);
        ConfigError { file: path.to_path_buf(), message, location, hint: None }
    })?;
    Ok(Parsed { set: locate::keys(table), file })
}

fn syntax(path: &Path, source: &str, error: &toml::de::Error) -> ConfigError {
    let message = format!("not valid TOML: {}", error.message().replace('\n', ", "));
    let location = error.span().map(|span| Location::at(source, span));
    ConfigError { file: path.to_path_buf(), message, location, hint: None }
}

/// Rewrites an error of serde for the user.
fn mismatch(path: &Path, source: &str, table: &DeTable<'_>, error: &toml::de::Error) -> ConfigError {
    let key = error.span().and_then(|span| locate::path_at(table, &span));
    let (message, hint) = explain(error.message(), key.as_deref());
    let location = error.span().map(|span| Location::at(source, span));
    ConfigError { file: path.to_path_buf(), message, location, hint }
}

fn explain(message: &str, key: Option<&str>) -> (String, Option<String>) {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (given, valid) = match quoted.split_first() {
        Some((given, valid)) => (*given, valid),
        None => ("", &[][..]),
    };
    if message.starts_with("unknown field") {
        let section = key.and_then(|key| key.rsplit_once('.')).map(|(section, _)| format!(" in [{section}]"));
        let hint = nearest(given, valid).or_else(|| Some(format!("valid keys here: {}", list(valid))));
        return (format!("unknown key `{given}`{}", section.unwrap_or_default()), hint);
    }
    let key = key.unwrap_or("this value");
    if message.starts_with("unknown variant") {
        let hint = nearest(given, valid).or_else(|| Some(format!("valid values: {}", list(valid))));
        return (format!("{key} cannot be \"{given}\""), hint);
    }
    if message.starts_with("missing field") {
        return (format!("`{given}` is missing in [{key}]"), None);
    }
    (format!("{key}: {}", plain(message)), None)
}

/// Rewrites `invalid type: string "3000", expected usize` as `expected a whole number, 0 or more, found string "3000"`.
fn plain(message: &str) -> String {
    let message = message.trim().replace('\n', ", ").replace('`', "");
    let message =
        message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: ")).unwrap_or(&message);
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected {
        "usize" | "u32" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        other => other,
    };
    format!("expected {expected}, found {found}")
}

fn list(names: &[&str]) -> String {
    names.join(", ")
}

/// Suggests the valid name that is closest to a misspelled one.
fn nearest(given: &str, valid: &[&str]) -> Option<String> {
    // One typo for every three letters; a more distant suggestion would mislead.
    let max_typos = (given.chars().count() / 3).max(1);
    let best = valid.iter().map(|name| (strsim::damerau_levenshtein(given, name), *name)).min()?;
    (best.0 <= max_typos).then(|| format!("did you mean `{}`?", best.1))
}

struct Invalid {
    key: String,
    problem: String,
}

fn validate(file: &File) -> Result<(), Invalid> {
    let invalid = |key: &str, problem: String| Err(Invalid { key: key.to_owned(), problem });
    if let Some(name) = &file.butler.name
        && let Err(problem) = super::roster::check_name(name)
    {
        return invalid("butler.name", problem);
    }
    let database = &file.butler.database;
    for (key, url) in [("butler.database.url", &database.url), ("butler.database.read_url", &database.read_url)] {
        if let Some(url) = url
            && !(url.starts_with("postgres://") || url.starts_with("postgresql://"))
        {
            return invalid(key, "must begin with postgres:// or postgresql://".to_owned());
        }
    }
    if let Err(problem) = check_schema(&database.schema) {
        return invalid("butler.database.schema", problem);
    }
    let sizes = 1..=DatabaseSection::MAX_POOL_SIZE;
    if !sizes.contains(&database.pool_size) {
        let problem = format!("must be between 1 and {}, not {}", sizes.end(), database.pool_size);
        return invalid("butler.database.pool_size", problem);
    }
    let timeout = file.butler.session.memory_timeout_s;
    if !(timeout > 0.0 && timeout <= SessionSection::MAX_MEMORY_TIMEOUT_S) {
        let problem = format!("must be more than 0 and at most {} seconds", SessionSection::MAX_MEMORY_TIMEOUT_S);
        return invalid("butler.session.memory_timeout_s", problem);
    }
    backup_values(file)?;
    if let Some(endpoint) = &file.telemetry.otlp_endpoint
        && !(endpoint.starts_with("http://") || endpoint.starts_with("https://"))
    {
        return invalid("telemetry.otlp_endpoint", "must begin with http:// or https://".to_owned());
    }
    if let Err((key, problem)) = file.server.check() {
        return invalid(&format!("server.{key}"), problem);
    }
    if let Some(lifetime) = &file.server.default_token_lifetime
        && let Err(problem) = duration(lifetime)
    {
        return invalid("server.default_token_lifetime", format!("is {lifetime:?}; {problem}"));
    }
    if let Some(runtime) = &file.butler.runtime {
        runtime_values(runtime)?;
    }
    file.modules
        .memory
        .validate()
        .map_err(|value| Invalid { key: format!("modules.memory.{}", value.key), problem: value.problem })
}

/// Requires a name that needs no quotes in SQL, because people type it in psql, and that PostgreSQL does not reserve.
fn check_schema(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = |c: char| c.is_ascii_lowercase() || c == '_';
    if name.len() > 63 || !name.starts_with(begins) || !name.chars().all(plain) {
        return Err("must be at most 63 characters of a-z, 0-9 and _, and must not start with a digit".to_owned());
    }
    if name.starts_with("pg_") {
        return Err("must not begin with pg_, which PostgreSQL reserves".to_owned());
    }
    Ok(())
}

fn backup_values(file: &File) -> Result<(), Invalid> {
    let backup = &file.butler.backup;
    let invalid = |key: &str, problem: String| Err(Invalid { key: format!("butler.backup.{key}"), problem });
    if backup.keep == 0 {
        return invalid("keep", "must be at least 1".to_owned());
    }
    match &backup.schedule {
        Some(_) if !file.modules.memory.enabled => {
            invalid("schedule", "requires the memory module, whose scheduler runs the backups".to_owned())
        }
        // The time zone is validated with [modules.memory.schedule].
        Some(cron) => Schedule::parse(cron, "UTC").map(drop).or_else(|problem| invalid("schedule", problem)),
        None => Ok(()),
    }
}

fn runtime_values(runtime: &RuntimeSection) -> Result<(), Invalid> {
    let invalid =
        |key: &str, problem: &str| Err(Invalid { key: format!("butler.runtime.{key}"), problem: problem.to_owned() });
    if runtime.timeout_s == 0 {
        return invalid("timeout_s", "must be at least 1 second");
    }
    if runtime.command.iter().any(|argument| argument.contains("{system_prompt}")) {
        let problem = "contains {system_prompt}, but every user of the machine can read arguments; use \
                       {system_prompt_file}, which becomes the path of a private file";
        return invalid("command", problem);
    }
    if let Some(problem) = runtime.env.iter().find_map(|name| env::check_name(name).err()) {
        return invalid("env", &problem);
    }
    match runtime.kind {
        RuntimeType::Command if runtime.command.first().is_none_or(|program| program.trim().is_empty()) => {
            invalid("command", "is required with type = \"command\", for example [\"claude\", \"-p\"]")
        }
        RuntimeType::Openai if runtime.base_url.is_none() => {
            invalid("base_url", "is required with type = \"openai\", for example \"http://127.0.0.1:11434/v1\"")
        }
        RuntimeType::Openai | RuntimeType::Anthropic if runtime.model.is_none() => {
            invalid("model", "is required: the name of the model")
        }
        _ => Ok(()),
    }
}
