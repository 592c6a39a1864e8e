//! A tool's own arguments: other names for the same argument are accepted, unknown ones are not.

use butler_domain::validate::Invalid;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call::REQUEST_CONTEXT;
use crate::fields;

/// From this similarity on, an unknown name is probably a misspelling of the known one.
const SIMILAR: f64 = 0.7;

pub(super) fn parse<T: DeserializeOwned>(
    mut arguments: Map<String, Value>,
    aliases: &[(&str, &str)],
) -> Result<T, Invalid> {
    for (alias, real) in aliases {
        if let Some(value) = arguments.remove(*alias) {
            arguments.entry(*real).or_insert(value);
        }
    }
    let known = fields::of::<T>();
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(unknown_argument(unknown, known));
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        // The structs hold plain values, which validation turns into types, so only a missing one can fail here.
        let text = error.to_string();
        let field = text.split('`').nth(1).unwrap_or("arguments");
        if text.starts_with("missing field") {
            Invalid::new(field, "is required").hint(format!("add {field} to the arguments"))
        } else {
            Invalid::new("arguments", text)
        }
    })
}

fn unknown_argument(given: &str, known: &[&str]) -> Invalid {
    let all = known.iter().copied().chain([REQUEST_CONTEXT]);
    let similar = all.clone().map(|name| (strsim::jaro_winkler(given, name), name));
    let hint = match similar.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((score, nearest)) if score >= SIMILAR => format!("did you mean {nearest}?"),
        _ => format!("valid are {}", all.collect::<Vec<_>>().join(", ")),
    };
    Invalid::new(given, "is not an argument of this tool").hint(hint)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Input {
        memory_type: Value,
        limit: Option<Value>,
    }

    fn parsed(arguments: Value) -> Result<Input, Invalid> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        parse(arguments, &[("type", "memory_type")])
    }

    #[test]
    fn an_unknown_argument_names_the_nearest_valid_one() {
        let error = parsed(json!({"memory_type": "fact", "limmit": 3})).unwrap_err();
        assert_eq!(error.to_string(), "limmit: is not an argument of this tool");
        assert_eq!(error.hint.as_deref(), Some("did you mean limit?"));
        let error = parsed(json!({"memory_type": "fact", "zzz": 3})).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("valid are memory_type, limit, request_context"));
    }

    #[test]
    fn a_missing_argument_is_named_and_null_counts_as_left_out() {
        assert_eq!(parsed(json!({})).unwrap_err().to_string(), "memory_type: is required");
        assert!(parsed(json!({"memory_type": "fact", "limit": null})).unwrap().limit.is_none());
    }

    #[test]
    fn type_is_an_alias_of_memory_type_which_wins() {
        assert_eq!(parsed(json!({"type": "fact"})).unwrap().memory_type, json!("fact"));
        assert_eq!(parsed(json!({"type": "fact", "memory_type": "rule"})).unwrap().memory_type, json!("rule"));
    }
}
