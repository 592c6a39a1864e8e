//! Lists and objects. Many clients send them as a string of JSON, which is accepted as well.

use serde_json::{Map, Value};

use super::{Invalid, is_omitted, required_text};
use crate::limits;
use crate::text::strip_nul;

/// A list of trimmed strings. Null is an empty list.
fn strings(field: &str, value: &Value, max_items: usize, max_bytes: usize) -> Result<Vec<String>, Invalid> {
    let parsed;
    let list = match value {
        omitted if is_omitted(omitted) => return Ok(Vec::new()),
        Value::Array(list) => list,
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Array(list)) => {
                parsed = list;
                &parsed
            }
            _ => return Err(Invalid::wrong_type(field, "a list of strings", value).hint(r#"for example ["a", "b"]"#)),
        },
        other => return Err(Invalid::wrong_type(field, "a list of strings", other)),
    };
    if list.len() > max_items {
        let message = format!("has {} items; at most {max_items} are allowed", list.len());
        return Err(Invalid::new(field, message).hint(format!("keep the {max_items} that matter most")));
    }
    let item = |(i, item): (usize, &Value)| {
        let field = format!("{field}[{i}]");
        let text = item.as_str().ok_or_else(|| Invalid::wrong_type(&field, "a string", item))?;
        required_text(&field, text.trim(), max_bytes).map(|text| text.trim().to_owned())
    };
    list.iter().enumerate().map(item).collect()
}

/// The tags of a memory; null means none.
///
/// A text such as `a, b` is split at its commas.
pub fn tags(value: &Value) -> Result<Vec<String>, Invalid> {
    let parts;
    let value = match value {
        Value::String(text) if !text.trim_start().starts_with(['[', '{']) => {
            parts = text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).collect();
            &parts
        }
        value => value,
    };
    strings("tags", value, limits::TAGS, limits::TAG_BYTES)
}

/// The predicates to follow; null means all.
pub fn predicates(value: &Value) -> Result<Vec<String>, Invalid> {
    strings("predicates", value, limits::TAGS, limits::PREDICATE_BYTES)
}

/// The aliases of an entity, at most `max_items`. Names that differ only in case are duplicates and cause an error.
pub fn aliases(value: &Value, max_items: usize) -> Result<Vec<String>, Invalid> {
    let aliases = strings("aliases", value, max_items, limits::ENTITY_NAME_BYTES)?;
    for (i, alias) in aliases.iter().enumerate() {
        if let Some(first) = aliases[..i].iter().find(|other| other.to_lowercase() == alias.to_lowercase()) {
            let message = format!("{alias:?} is the same name as {first:?}; case is ignored");
            return Err(Invalid::new(format!("aliases[{i}]"), message).hint("give each alias once"));
        }
    }
    Ok(aliases)
}

/// A JSON object. Null is an empty object.
pub fn object(field: &str, value: &Value) -> Result<Map<String, Value>, Invalid> {
    match value {
        omitted if is_omitted(omitted) => Ok(Map::new()),
        Value::Object(map) => Ok(map.clone()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(map),
            _ => Err(Invalid::wrong_type(field, "an object", value)),
        },
        other => Err(Invalid::wrong_type(field, "an object", other)),
    }
}

/// Metadata without NUL, within the size limit. Null is an empty object.
pub fn metadata(value: &Value) -> Result<Map<String, Value>, Invalid> {
    small_object("metadata", value)
}

/// An object without NUL, within the size limit of metadata. Null is an empty object.
pub fn small_object(field: &str, value: &Value) -> Result<Map<String, Value>, Invalid> {
    let map = without_nul(object(field, value)?);
    let bytes = serde_json::to_string(&map).map_or(usize::MAX, |json| json.len());
    if bytes > limits::METADATA_BYTES {
        let message = format!("is {bytes} bytes of JSON; at most {} are allowed", limits::METADATA_BYTES);
        return Err(Invalid::new(field, message).hint("put long text into content"));
    }
    Ok(map)
}

/// Removes NUL from all strings and keys, because PostgreSQL rejects `\u0000` in JSONB.
fn without_nul(map: Map<String, Value>) -> Map<String, Value> {
    fn clean(value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(strip_nul(&text)),
            Value::Array(list) => list.into_iter().map(clean).collect(),
            Value::Object(map) => Value::Object(without_nul(map)),
            other => other,
        }
    }
    map.into_iter().map(|(key, value)| (strip_nul(&key), clean(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_json_string_of_a_list_is_parsed() {
        assert_eq!(tags(&json!(r#"["a", " b\u0000 "]"#)), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(tags(&json!(null)), Ok(vec![]));
        assert_eq!(tags(&json!("a, b c,")), Ok(vec!["a".to_owned(), "b c".to_owned()]));
        assert_eq!((tags(&json!(" ")), metadata(&json!(""))), (Ok(vec![]), Ok(Map::new())));
        assert!(aliases(&json!("Berg, Anna"), 64).unwrap_err().hint.is_some(), "a name may contain a comma");
    }

    #[test]
    fn too_many_or_non_string_tags_are_rejected() {
        assert_eq!(tags(&json!(vec!["t"; 64])).unwrap().len(), 64);
        assert_eq!(tags(&json!(vec!["t"; 65])).unwrap_err().message, "has 65 items; at most 64 are allowed");
        let error = tags(&json!(["a", 5])).unwrap_err();
        assert_eq!(error.to_string(), "tags[1]: must be a string, not the number 5");
        assert_eq!(tags(&json!(["  "])).unwrap_err().to_string(), "tags[0]: must not be empty");
        assert!(tags(&json!({"a": 1})).is_err());
    }

    #[test]
    fn aliases_that_differ_only_in_case_or_are_empty_are_rejected() {
        assert!(aliases(&json!(["Chloé", "CHLOÉ"]), 64).unwrap_err().message.contains("case is ignored"));
        assert!(aliases(&json!(["Chloe", ""]), 64).is_err());
        assert_eq!(aliases(&json!(["Chlo", "Chloe"]), 64).unwrap().len(), 2);
    }

    #[test]
    fn metadata_that_is_not_an_object_is_rejected() {
        assert_eq!(metadata(&json!([1])).unwrap_err().to_string(), "metadata: must be an object, not a list");
        assert_eq!(metadata(&json!("x")).unwrap_err().message, "must be an object, not the string \"x\"");
        assert_eq!(metadata(&json!(null)), Ok(Map::new()));
        assert_eq!(Value::Object(metadata(&json!(r#"{"a": 1}"#)).unwrap()), json!({"a": 1}));
    }

    #[test]
    fn metadata_is_free_of_nul_at_every_depth_and_at_most_64_kib() {
        let clean = metadata(&json!({"a\0": [{"b": "c\0d"}]})).unwrap();
        assert_eq!(Value::Object(clean), json!({"a": [{"b": "cd"}]}));
        assert!(metadata(&json!({"a": "x".repeat(64 * 1024)})).is_err());
        assert!(metadata(&json!({"a": "x".repeat(63 * 1024)})).is_ok());
    }
}
