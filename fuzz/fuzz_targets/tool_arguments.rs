//! Any JSON object as the arguments of a tool: a result, or an error with a reason; never `internal`.
#![no_main]

use std::sync::LazyLock;

use fuzz::{memory, wait};
use libfuzzer_sys::fuzz_target;
use butler_domain::secrets::Redactor;
use butler_memory::Caller;
use butler_memory::tool::{ErrorCode, Tool, ToolCall};
use serde_json::{Map, Value};

/// Each tool, and the names of its arguments.
static TOOLS: LazyLock<Vec<(Tool, Vec<String>)>> = LazyLock::new(|| {
    let named = |tool: Tool| {
        let names = tool.spec().input_schema.get("properties").and_then(Value::as_object).cloned();
        (tool, names.unwrap_or_default().keys().cloned().collect())
    };
    butler_memory::tools().into_iter().map(named).collect()
});

fuzz_target!(|text: &str| {
    let Ok(Value::Object(arguments)) = serde_json::from_str(text) else { return };
    for (tool, names) in TOOLS.iter() {
        // all of them, which an unknown name ends early, and those the tool knows
        let known: Map<String, Value> =
            arguments.iter().filter(|(name, _)| names.contains(name)).map(|(k, v)| (k.clone(), v.clone())).collect();
        for arguments in [arguments.clone(), known] {
            let call = ToolCall::parse(tool.spec(), Caller::trusted(), arguments, &Redactor::standard());
            if let Err(error) = wait(tool.run(memory(), call)) {
                assert!(!error.message.is_empty());
                let codes = [ErrorCode::InvalidArgument, ErrorCode::Unavailable, ErrorCode::InvalidState];
                assert!(codes.contains(&error.code), "{}: {error:?}", tool.spec().name);
            }
        }
    }
});
