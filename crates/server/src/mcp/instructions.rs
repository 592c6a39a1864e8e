//! The instructions for the model: when to use which tool. Each tool contributes its own line, and only offered tools
//! are mentioned.

use butler_memory::tool::{Instruction, ToolSpec};

const BEGINNING: &str = "Long-term memory of this butler. Use it without being asked.";

const END: &str = "An error says what is wrong and how to fix it: correct the call and repeat it. The code \
                   `unavailable` means that the database is restarting: wait a moment and repeat the same call.";

/// The instructions for the offered tools, in the order in which clients list them.
pub fn of<'a>(offered: impl Iterator<Item = &'a ToolSpec>) -> String {
    let mut instructions: Vec<Instruction> = offered.filter_map(|spec| spec.instruction).collect();
    instructions.sort_by_key(|instruction| instruction.topic);
    let texts = instructions.iter().map(|instruction| instruction.text);
    let lines: Vec<String> = texts.chain([END]).map(|line| format!("- {line}")).collect();
    format!("{BEGINNING}\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_instructions_follow_the_course_of_a_session_and_end_with_errors() {
        let tools = butler_memory::tools();
        let text = super::of(tools.iter().map(|tool| &**tool.spec()));
        let places: Vec<Option<usize>> = [
            "call memory_context",
            "memory_recall returns",
            "store it with memory_store_episode",
            "goes into memory_store_rule",
            "memory_confirm keeps",
            "memory_forget removes",
            "look for it with entity_resolve",
            "memory_stats counts",
            "The code `unavailable`",
        ]
        .map(|words| text.find(words))
        .to_vec();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{text}");
    }
}
