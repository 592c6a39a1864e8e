//! The OpenAPI document, generated from the same table of operations as the router.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::OPERATIONS;
use super::operation::{OperationEntry, Verb};
use crate::http::ErrorBody;

/// The complete OpenAPI document.
pub fn document() -> Value {
    let mut answers = generator();
    let mut paths = Map::new();
    let error = answers.subschema_for::<ErrorBody>().to_value();
    for entry in OPERATIONS {
        let path = paths.entry(entry.path.to_owned()).or_insert_with(|| json!({}));
        path[entry.verb.as_str()] = operation(entry, &mut answers, &error);
    }
    paths.insert("/api/events".to_owned(), super::live::description(&error));
    paths.extend(super::transfer::descriptions(&error).map(|(path, about)| (path.to_owned(), about)));
    paths.insert("/api/openapi.json".to_owned(), own_description());
    let schemas = answers.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Butler Memory",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Browse memories with their origin, confidence and decay; confirm, correct or forget them.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer",
                "description": "Required as soon as one token exists. Create tokens with `butler token create`."}},
        },
    })
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// Inlines the schemas of parameters and bodies: for the same type, what is accepted differs from what is returned.
fn requests() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn operation(entry: &OperationEntry, answers: &mut SchemaGenerator, error: &Value) -> Value {
    let mut all = parameters_in("path", &(entry.path_parameters)(&mut requests()).to_value());
    all.extend(parameters_in("query", &(entry.query_parameters)(&mut requests()).to_value()));
    all.push(tenant());
    let failed = json!({"description": "The error, with a hint what to do about it.",
                        "content": {"application/json": {"schema": error}}});
    let answer = (entry.answer)(answers).to_value();
    let mut described = json!({
        "operationId": entry.id,
        "tags": [entry.tag],
        "summary": entry.summary,
        "x-right": entry.right.as_str(),
        "parameters": all,
        "responses": {
            "200": {"description": "Success.", "content": {"application/json": {"schema": answer}}},
            "default": failed,
        },
    });
    let body = (entry.body)(&mut requests()).to_value();
    if entry.verb != Verb::Get && body.get("type").and_then(Value::as_str) != Some("null") {
        let required = body.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        described["requestBody"] = json!({"required": required, "content": {"application/json": {"schema": body}}});
    }
    described
}

fn parameters_in(location: &str, schema: &Value) -> Vec<Value> {
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    properties
        .iter()
        .map(|(name, schema)| {
            let mut schema = without_null(schema.clone());
            let description = schema.as_object_mut().and_then(|map| map.remove("description"));
            let required = location == "path" || required.contains(&json!(name));
            let mut parameter = json!({"name": name, "in": location, "required": required, "schema": schema});
            if let Some(description) = description {
                parameter["description"] = description;
            }
            parameter
        })
        .collect()
}

/// Removes `null` from a schema: an optional parameter can be absent from a URL, but not null.
fn without_null(mut schema: Value) -> Value {
    if let Some(parts) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        parts.retain(|part| part.get("type").and_then(Value::as_str) != Some("null"));
        if let [only] = &parts[..] {
            let mut only = only.clone();
            if let (Some(map), Some(description)) = (only.as_object_mut(), schema.get("description")) {
                map.insert("description".to_owned(), description.clone());
            }
            return only;
        }
    }
    if let Some(names) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        names.retain(|name| !name.is_null());
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            schema["type"] = only.clone();
        }
    }
    schema
}

fn tenant() -> Value {
    json!({"name": "tenant", "in": "query", "required": false, "schema": {"type": "string"},
           "description": "The tenant whose memory to use. A token determines it; without tokens the default is `default`."})
}

fn own_description() -> Value {
    json!({"get": {"operationId": "getOpenApi", "tags": ["server"], "summary": "This document.",
                   "responses": {"200": {"description": "OpenAPI 3.1.",
                                         "content": {"application/json": {"schema": {"type": "object"}}}}}}})
}

/// The document as text, as the server returns it and as it is committed in `docs/openapi.json`.
pub fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    /// The dashboard's client and other clients are generated from this file.
    const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

    #[test]
    fn the_committed_openapi_document_is_up_to_date() {
        let now = super::text();
        if std::env::var_os("BUTLER_RENEW_OPENAPI").is_some() {
            std::fs::write(COMMITTED, &now).unwrap();
            return;
        }
        let committed = std::fs::read_to_string(COMMITTED).unwrap_or_default();
        assert!(
            committed == now,
            "docs/openapi.json is out of date; renew it and review the difference:\n  \
             BUTLER_RENEW_OPENAPI=1 cargo test -p butler-server --lib the_committed_openapi_document"
        );
    }
}
