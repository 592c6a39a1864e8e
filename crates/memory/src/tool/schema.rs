//! JSON Schemas in the form that models and clients expect: one object without references.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The key of an answer that says how many secrets were redacted in the arguments.
pub(super) const REDACTED: &str = "redacted";

pub(super) fn input<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = object::<T>(SchemaSettings::draft2020_12().for_deserialize());
    properties(&mut schema).insert(
        "request_context".to_owned(),
        json!({ "type": "object", "description": "Optional: request_id, session_id, tenant_id." }),
    );
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    // An optional argument may be null, which counts as omitted. Saying so in the schema would only distract.
    properties(&mut schema).values_mut().for_each(without_null);
    properties(&mut schema).values_mut().for_each(without_lengths);
    schema
}

/// The keys that every answer has, and their types. A model reads the list of tools in every session; docs/tools.md has
/// the whole schema.
pub(super) fn brief(output: &Map<String, Value>) -> Map<String, Value> {
    let mut brief = Map::new();
    brief.insert("type".to_owned(), json!("object"));
    if let Some(Value::Object(all)) = output.get("properties") {
        let only_type = |schema: &Value| schema.get("type").map_or_else(|| json!({}), |of| json!({ "type": of }));
        let required = output.get("required").and_then(Value::as_array);
        let always = |name: &str| required.is_none_or(|names| names.iter().any(|required| required == name));
        let listed = all.iter().filter(|(name, _)| *name != "request_id" && *name != REDACTED && always(name));
        let properties: Map<String, Value> = listed.map(|(name, of)| (name.clone(), only_type(of))).collect();
        brief.insert("properties".to_owned(), Value::Object(properties));
    }
    brief
}

/// Removes limits on lengths. The description names one where a caller could reach it, and a text that is too long is
/// rejected with its limit.
fn without_lengths(property: &mut Value) {
    let Value::Object(map) = property else { return };
    for key in ["minLength", "maxLength", "minItems", "maxItems"] {
        map.remove(key);
    }
    if map.get("additionalProperties") == Some(&Value::Bool(true)) {
        map.remove("additionalProperties");
    }
    if let Some(items) = map.get_mut("items") {
        without_lengths(items);
    }
}

pub(super) fn output<T: JsonSchema>(read_only: bool) -> Map<String, Value> {
    let mut schema = object::<T>(SchemaSettings::draft2020_12().for_serialize());
    let request_id = json!({ "type": "string", "description": "request_context.request_id, if the call had one." });
    properties(&mut schema).insert("request_id".to_owned(), request_id);
    if !read_only {
        let redacted =
            json!({ "type": "integer", "description": "Secrets that were redacted in the arguments, if any." });
        properties(&mut schema).insert(REDACTED.to_owned(), redacted);
    }
    schema
}

fn object<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let Value::Object(mut schema) = settings.into_generator().into_root_schema_for::<T>().to_value() else {
        return Map::new();
    };
    // The name and comment of a Rust type mean nothing to users.
    schema.remove("title");
    schema.remove("description");
    // MCP requires it, also where the object is one of several.
    schema.insert("type".to_owned(), json!("object"));
    schema.values_mut().for_each(without_number_formats);
    schema
}

fn without_null(property: &mut Value) {
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            property["type"] = only.clone();
        }
    }
    if let Some(Value::Object(inner)) = property.get_mut("properties") {
        inner.values_mut().for_each(without_null);
    }
}

/// Removes `int32`, `double` and the like, which belong to OpenAPI. Validators of JSON Schema reject them.
fn without_number_formats(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let of_number = |format: &Value| !matches!(format.as_str(), Some("uuid" | "date-time"));
            // A property named "format" is a schema, not the name of a format.
            if map.get("format").is_some_and(|format| format.is_string() && of_number(format)) {
                map.remove("format");
            }
            map.values_mut().for_each(without_number_formats);
        }
        Value::Array(list) => list.iter_mut().for_each(without_number_formats),
        _ => {}
    }
}

fn properties(schema: &mut Map<String, Value>) -> &mut Map<String, Value> {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    properties.as_object_mut().expect("made so above")
}
