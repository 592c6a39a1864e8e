//! Whatever arguments a tool is called with: no panic, and, since there is no database, no success that would need one.
//! The first byte chooses the tool, the rest are its arguments.
#![no_main]

use std::sync::LazyLock;

use fuzz::{MEMORY, wait};
use libfuzzer_sys::fuzz_target;
use memory::Caller;
use memory::tool::Tool;
use serde_json::Value;

static TOOLS: LazyLock<Vec<Box<dyn Tool>>> = LazyLock::new(memory::tools);

fuzz_target!(|input: &[u8]| {
    let [which, arguments @ ..] = input else { return };
    let tool = &TOOLS[usize::from(*which) % TOOLS.len()];
    let Ok(Value::Object(arguments)) = serde_json::from_slice(arguments) else { return };
    match wait(tool.call(&MEMORY, &Caller::trusted(), arguments.clone())) {
        // nothing was asked for, so nothing was looked for
        Ok(answer) => assert!(answer.structured.contains_key("results") || answer.text.is_some(), "{arguments:?}"),
        Err(error) => {
            assert!(matches!(error.code, "invalid_argument" | "unavailable"), "{error:?} {arguments:?}");
            assert!(!error.message.is_empty());
        }
    }
});
