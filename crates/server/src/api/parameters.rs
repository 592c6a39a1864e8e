//! Parses path and query parameters into an operation's struct, guided by its JSON schema. Errors name the parameter.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use axum::extract::Query;
use axum::http::Uri;
use butler_domain::validate::Invalid;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::ApiError;

/// A known parameter this similar to an unknown one is suggested.
const MIN_SIMILARITY: f64 = 0.7;

pub fn pairs(uri: &Uri) -> Result<Vec<(String, String)>, ApiError> {
    let query: Result<Query<Vec<(String, String)>>, _> = Query::try_from_uri(uri);
    query.map(|Query(pairs)| pairs).map_err(|error| ApiError::bad_parameter(Invalid::new("query", error.body_text())))
}

/// The JSON schema of the struct, with all subschemas inlined.
fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Returns the schema from a cache, because generating it takes longer than serving a request.
fn cached(key: TypeId, schema: fn() -> Value) -> Arc<Value> {
    static CACHE: LazyLock<RwLock<HashMap<TypeId, Arc<Value>>>> = LazyLock::new(RwLock::default);
    if let Some(schema) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Arc::clone(schema);
    }
    let schema = Arc::new(schema());
    CACHE.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&schema));
    schema
}

/// Parses the parameters. An empty value counts as missing, because that is how a form submits an empty field.
pub fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    given: Vec<(String, String)>,
    also_known: &[&str],
) -> Result<T, ApiError> {
    let schema = cached(TypeId::of::<T>(), schema::<T>);
    serde_json::from_value(typed(&schema, given, also_known)?).map_err(|error| bad_value(&error))
}

/// The parameters as the JSON that the schema describes.
fn typed(schema: &Value, given: Vec<(String, String)>, also_known: &[&str]) -> Result<Value, ApiError> {
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let mut values = Map::new();
    for (name, text) in given {
        let Some(property) = properties.get(&name) else { return Err(unknown(&name, properties, also_known)) };
        if text.is_empty() {
            continue;
        }
        if values.insert(name.clone(), read(&name, &text, property).map_err(ApiError::bad_parameter)?).is_some() {
            return Err(ApiError::bad_parameter(Invalid::new(name, "is repeated").hint("pass it once")));
        }
    }
    Ok(if properties.is_empty() { Value::Null } else { Value::Object(values) })
}

fn bad_value(error: &serde_json::Error) -> ApiError {
    let text = error.to_string();
    let field = text.split('`').nth(1).unwrap_or("query").to_owned();
    let missing = text.starts_with("missing field");
    ApiError::bad_parameter(if missing { Invalid::new(field, "is required") } else { Invalid::new("query", text) })
}

fn read(name: &str, text: &str, schema: &Value) -> Result<Value, Invalid> {
    if let Some(names) = names_of(schema) {
        let known: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
        return if known.contains(&text) {
            Ok(text.into())
        } else {
            Err(Invalid::new(name, format!("unknown value {text:?}"))
                .hint(format!("valid values: {}", known.join(", "))))
        };
    }
    let wrong = |expected: &str| Invalid::new(name, format!("must be {expected}, not {text:?}"));
    if is(schema, "integer") {
        let number: i64 = text.parse().map_err(|_| wrong("a whole number"))?;
        bounded(name, number as f64, schema)?;
        return Ok(number.into());
    }
    if is(schema, "number") {
        let number: f64 = text.parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(|| wrong("a number"))?;
        bounded(name, number, schema)?;
        return Ok(number.into());
    }
    if is(schema, "boolean") {
        return match text {
            "true" | "1" => Ok(true.into()),
            "false" | "0" => Ok(false.into()),
            _ => Err(wrong("true or false")),
        };
    }
    if schema.get("format").and_then(Value::as_str) == Some("uuid") {
        butler_domain::validate::uuid(name, text)?;
        return Ok(text.trim().into());
    }
    Ok(butler_domain::text::strip_nul(text).into())
}

fn bounded(name: &str, number: f64, schema: &Value) -> Result<(), Invalid> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (least, most) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
    if number < least || number > most {
        return Err(Invalid::new(name, format!("is {number}, which is out of range"))
            .hint(format!("allowed: {least} to {most}")));
    }
    Ok(())
}

fn is(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(several)) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

/// The values of an enumeration, including optional enumerations and those with a description for each value.
fn names_of(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return Some(names.iter().collect());
    }
    let parts = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let names: Vec<&Value> = parts
        .iter()
        .flat_map(|part| part.get("const").map(|name| vec![name]).or_else(|| names_of(part)).unwrap_or_default())
        .collect();
    (!names.is_empty()).then_some(names)
}

fn unknown(given: &str, properties: &Map<String, Value>, also_known: &[&str]) -> ApiError {
    let known = || properties.keys().map(String::as_str).chain(also_known.iter().copied());
    let nearest = known()
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(score, _)| *score >= MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, name)) => format!("did you mean {name}?"),
        None => format!("valid parameters: {}", known().collect::<Vec<_>>().join(", ")),
    };
    ApiError::bad_parameter(Invalid::new(given, "is not a parameter of this path").hint(hint))
}
