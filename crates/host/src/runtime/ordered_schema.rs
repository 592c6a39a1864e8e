//! Serializes a JSON schema with its properties in the order of `required`.
//!
//! A server that constrains a model to a schema makes it write the properties in the schema's order, but a `Value`
//! sorts its keys. A small model that must start with the ids of what it confirms never gets to what it learned.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

pub struct OrderedSchema<'a>(pub &'a Value);

impl Serialize for OrderedSchema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(OrderedSchema)),
            Value::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    match (key.as_str(), value, entries.get("required")) {
                        ("properties", Value::Object(properties), Some(Value::Array(required))) => {
                            map.serialize_entry(key, &Properties { properties, required })?;
                        }
                        _ => map.serialize_entry(key, &OrderedSchema(value))?,
                    }
                }
                map.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}

struct Properties<'a> {
    properties: &'a Map<String, Value>,
    required: &'a [Value],
}

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = self.required.iter().filter_map(Value::as_str);
        let others =
            self.properties.keys().map(String::as_str).filter(|key| !self.required.iter().any(|name| name == key));
        let mut map = serializer.serialize_map(Some(self.properties.len()))?;
        for key in first.chain(others) {
            if let Some(value) = self.properties.get(key) {
                map.serialize_entry(key, &OrderedSchema(value))?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_in_the_order_of_required_and_the_others_follow() {
        let inner = json!({"type": "object", "required": ["z", "a"], "properties": {"a": {}, "z": {}}});
        let schema = json!({"required": ["y", "b"], "properties": {"b": inner, "c": {}, "y": {"type": "string"}}});
        let text = serde_json::to_string(&OrderedSchema(&schema)).unwrap();
        assert_eq!(
            text,
            r#"{"properties":{"y":{"type":"string"},"b":{"properties":{"z":{},"a":{}},"required":["z","a"],"type":"object"},"c":{}},"required":["y","b"]}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
    }
}
