//! Reads and validates arguments and stdin.

use std::io::{self, IsTerminal, Read};
use std::str::FromStr;

use butler_domain::{limits, validate};
use butler_host::error::HostError;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value};

/// An id or the end of one, as the tools accept it.
pub fn memory_id(text: &str) -> Result<String, String> {
    validate::id_or_end("id", text).map(|_| text.to_owned()).map_err(|invalid| invalid.message)
}

/// Returns the text of an argument and rejects an empty one.
pub fn text(argument: Option<String>, name: &str) -> Result<String, HostError> {
    let text = text_or_empty(argument, name)?;
    if text.trim().is_empty() { Err(missing(name, "is empty")) } else { Ok(text) }
}

/// Returns the text of an argument. A given argument may be empty. `-` reads stdin, and so does a missing argument unless
/// stdin is a terminal.
pub fn text_or_empty(argument: Option<String>, name: &str) -> Result<String, HostError> {
    let stdin = io::stdin();
    let text = match argument.as_deref() {
        Some("-") => read(stdin.lock())?,
        Some(text) => text.to_owned(),
        None if stdin.is_terminal() => return Err(missing(name, "is missing")),
        None => match read(stdin.lock())? {
            text if text.trim().is_empty() => return Err(missing(name, "is missing")),
            text => text,
        },
    };
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn missing(name: &str, problem: &str) -> HostError {
    let hint = format!("pass {name} as an argument, or pipe it: echo … | butler … -");
    HostError::usage(format!("{name} {problem}"), hint)
}

fn read(from: impl Read) -> Result<String, HostError> {
    let limit = limits::CONTENT_BYTES as u64;
    let mut bytes = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| HostError::Failed(format!("cannot read stdin: {error}")))?;
    if bytes.len() as u64 > limit {
        let hint = "split it into several memories, or store a summary";
        return Err(HostError::usage(
            format!("the text on stdin is longer than a memory can hold ({limit} bytes)"),
            hint,
        ));
    }
    String::from_utf8(bytes).map_err(|_| {
        HostError::usage("the text on stdin is not valid UTF-8", "convert it first, for example with iconv")
    })
}

/// A parser for one of the names of a domain enum. Help and errors list the names.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = butler_domain::UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// Parses a JSON object.
pub fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected a JSON object such as '{\"source\": \"mail\"}'".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}")),
    }
}

/// Returns `None` for an empty list, which means that the flag was not given.
pub fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
