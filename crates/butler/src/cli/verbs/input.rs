//! What is typed, or piped in.

use std::io::{self, IsTerminal, Read};
use std::str::FromStr;

use butler_domain::limits;
use butler_host::error::HostError;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Map, Value};

/// The text of an argument, which says something.
pub fn text(argument: Option<String>, name: &str) -> Result<String, HostError> {
    let text = question(argument, name)?;
    if text.trim().is_empty() { Err(missing(name, "is empty")) } else { Ok(text) }
}

/// The text of an argument. `-` means stdin, and so does leaving it out while something is piped in. An empty question is
/// answered: nothing is found.
pub fn question(argument: Option<String>, name: &str) -> Result<String, HostError> {
    let stdin = io::stdin();
    let text = match argument.as_deref() {
        Some("-") => read(stdin.lock())?,
        Some(text) => text.to_owned(),
        None if stdin.is_terminal() => return Err(missing(name, "is missing")),
        None => read(stdin.lock())?,
    };
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

fn missing(name: &str, how: &str) -> HostError {
    HostError::usage(format!("{name} {how}"), format!("give {name} as an argument, or pipe it in: echo … | butler … -"))
}

fn read(from: impl Read) -> Result<String, HostError> {
    let most = limits::CONTENT_BYTES as u64;
    let mut bytes = Vec::new();
    from.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| HostError::Failed(format!("stdin cannot be read: {error}")))?;
    if bytes.len() as u64 > most {
        let hint = "store it as several memories, or as a summary";
        return Err(HostError::usage(format!("there is more on stdin than a memory can hold ({most} bytes)"), hint));
    }
    String::from_utf8(bytes).map_err(|_| {
        HostError::usage("what is on stdin is no text in UTF-8", "convert it first, with iconv for instance")
    })
}

/// One name of a closed list of the domain; help and errors show the list.
pub fn one_of<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = butler_domain::UnknownName> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// A JSON object.
pub fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("must be a JSON object, as in '{\"source\": \"mail\"}'".to_owned()),
        Err(error) => Err(format!("is not JSON: {error}")),
    }
}

/// `None` for a list that was not given.
pub fn given<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
