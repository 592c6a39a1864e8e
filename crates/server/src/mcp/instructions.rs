//! What a model is told about the tools as a whole: when to use which. Each tool brings its own line, and only offered
//! tools are mentioned.

use butler_memory::tool::{Instruction, ToolSpec};

const BEGINNING: &str = "Long-term memory of this butler. Use it without being asked.";

const END: &str = "An error names what was wrong and how to put it right: correct the call and repeat it. The code \
                   `unavailable` means that the database is restarting: wait a moment and repeat the same call.";

/// The instructions for the offered tools, which come in the order in which clients list them.
pub fn of<'a>(offered: impl Iterator<Item = &'a ToolSpec>) -> String {
    let mut instructions: Vec<Instruction> = offered.filter_map(|spec| spec.instruction).collect();
    instructions.sort_by_key(|instruction| instruction.topic);
    let texts = instructions.iter().map(|instruction| instruction.text);
    let lines: Vec<String> = texts.chain([END]).map(|line| format!("- {line}")).collect();
    format!("{BEGINNING}\n{}", lines.join("\n"))
}
