//! Checks that apply to every tool: its schemas and descriptions.

use butler_domain::secrets::Redactor;
use butler_memory::Caller;
use butler_memory::tool::{Right, ToolCall};
use serde_json::{Value, json};

/// Every object in a schema, the schema itself included.
fn objects(schema: &Value) -> Vec<&serde_json::Map<String, Value>> {
    match schema {
        Value::Object(map) => std::iter::once(map).chain(map.values().flat_map(objects)).collect(),
        Value::Array(list) => list.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn schemas_contain_no_references_and_every_argument_is_described() {
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        for schema in [&spec.input_schema, &spec.output_schema] {
            assert_eq!(schema["type"], "object", "{}", spec.name);
            let schema = Value::Object(schema.clone());
            assert!(
                objects(&schema).iter().all(|object| !object.contains_key("$ref")),
                "{} refers elsewhere",
                spec.name
            );
        }
        let properties = spec.input_schema["properties"].as_object().unwrap();
        assert!(properties.contains_key("request_context"), "{}", spec.name);
        for (name, schema) in properties {
            assert!(schema["description"].is_string(), "{}.{name} has no description", spec.name);
        }
        assert_eq!(spec.input_schema["additionalProperties"], false);
        assert!(spec.description.len() > 60 && !spec.title.is_empty(), "{}", spec.name);
    }
}

#[test]
fn a_tool_needs_more_than_the_right_to_read_exactly_if_it_writes() {
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        let needs_more = spec.right != Right::Read || !spec.reading_actions.is_empty();
        assert_eq!(!spec.annotations.read_only, needs_more, "{}", spec.name);
    }
}

#[test]
fn everybody_may_list_conflicts_and_only_an_admin_resolves_them() {
    let tools = butler_memory::tools();
    let spec = tools.iter().map(|tool| tool.spec()).find(|spec| spec.name == "memory_conflicts").unwrap();
    for (action, right) in [("list", Right::Read), ("resolve", Right::Admin), ("reopen", Right::Admin)] {
        let Value::Object(arguments) = json!({"action": action}) else { unreachable!() };
        let call = ToolCall::parse(spec, Caller::trusted(), arguments, &Redactor::standard());
        assert_eq!(call.right(), right, "{action}");
    }
}

#[test]
fn tool_schemas() {
    for tool in butler_memory::tools() {
        let spec = tool.spec();
        let hints = spec.annotations;
        let shown = json!({
            "title": spec.title,
            "description": spec.description,
            "annotations": {
                "readOnlyHint": hints.read_only, "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent, "openWorldHint": hints.open_world,
            },
            "inputSchema": spec.input_schema,
            "outputSchema": spec.output_schema,
        });
        insta::with_settings!({ omit_expression => true }, { insta::assert_json_snapshot!(spec.name, shown) });
    }
}
