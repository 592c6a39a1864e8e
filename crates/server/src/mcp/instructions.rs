//! What a model is told about the tools as a whole: when to use which. Only of tools that are there.

const BEGINNING: &str = "Long-term memory of this butler. Use it without being asked.";

const ADVICE: &[(&str, &str)] = &[
    (
        "memory_context",
        "When a session begins or its topic changes, call memory_context with the user's words and read what it returns before you answer.",
    ),
    ("memory_recall", "memory_recall tells what is known about a topic, the most useful first."),
    ("memory_search", "memory_search finds memories by words or meaning; narrow it by types and scope."),
    (
        "memory_store_episode",
        "When something worth keeping happened (a decision, a preference, an outcome), store it with memory_store_episode: one event each, in a full sentence that can be understood later without this conversation.",
    ),
    (
        "memory_store_fact",
        "What is true and stays so goes into memory_store_fact; a new fact about the same subject and predicate replaces the old one.",
    ),
    ("memory_store_rule", "What works, or never does, goes into memory_store_rule as one instruction."),
    ("memory_confirm", "memory_confirm keeps a memory that proved right from fading."),
    (
        "memory_mark_helpful",
        "After you followed a rule, say how it went: memory_mark_helpful or memory_mark_harmful, with the reason.",
    ),
    ("memory_forget", "memory_forget takes back what is wrong or unwanted."),
    (
        "entity_resolve",
        "Before you create an entity (a person, an organization, a place), look for it with entity_resolve.",
    ),
    ("memory_get", "memory_get reads one memory by its type and id."),
    ("memory_stats", "memory_stats counts what is there."),
];

const END: &str = "An error names what was wrong and how to put it right: correct the call and repeat it. The code \
                   `unavailable` means that the database is restarting: wait a moment and repeat the same call.";

pub fn of(offered: impl Fn(&str) -> bool) -> String {
    let advice = ADVICE.iter().filter(|(tool, _)| offered(tool)).map(|(_, advice)| *advice);
    let lines: Vec<String> = advice.chain([END]).map(|line| format!("- {line}")).collect();
    format!("{BEGINNING}\n{}", lines.join("\n"))
}
