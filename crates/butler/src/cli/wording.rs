//! Rewords tool errors for the command line. Tools address a model, so their errors name tools and arguments; a person types
//! commands and options.

use std::sync::LazyLock;

use butler_host::error::HostError;
use butler_memory::tool::ToolError;
use clap::CommandFactory;

use super::Cli;

/// Whole phrases that refer to an argument without naming it.
const PHRASES: [(&str, &str); 3] = [
    ("content: is required", "--content is required"),
    ("pass the text that says what both facts said", "give the text that says what both facts said: --content TEXT"),
    ("list them with the action list", "`butler conflicts` and `butler review` list them"),
];

/// The arguments that no option is named after, with what to type instead.
const ARGUMENTS: [(&str, &str); 12] = [
    ("memory_type", "TYPE"),
    ("memory_id", "ID"),
    ("conflict_id", "ID"),
    ("proposal_id", "ID"),
    ("rule_id", "RULE"),
    ("source_entity_id", "SOURCE"),
    ("target_entity_id", "TARGET"),
    ("trigger_prompt", "PROMPT"),
    ("canonical_name", "--name"),
    ("entity_type", "--type"),
    ("enable_fuzzy", "--fuzzy"),
    ("tenant_id", "--tenant"),
];

/// The tools that a command stands for, with the command.
static TOOLS: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let tools = butler_memory::tools();
    tools.iter().filter_map(|tool| Some((tool.spec().name, format!("`{}`", tool.spec().command?)))).collect()
});

/// Rewords the error of a tool. Other errors already name commands and options.
pub fn for_shell(error: HostError) -> HostError {
    match error {
        HostError::Tool(error) => HostError::Tool(ToolError {
            message: reworded(&error.message),
            hint: error.hint.as_deref().map(reworded),
            ..error
        }),
        other => other,
    }
}

fn reworded(text: &str) -> String {
    let phrased = PHRASES.iter().fold(text.to_owned(), |text, (phrase, typed)| text.replace(*phrase, typed));
    let commands = Cli::command();
    let mut said = String::with_capacity(phrased.len());
    let mut rest = phrased.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let option = part.replace('_', "-");
        if let Some((_, command)) = TOOLS.iter().find(|(tool, _)| *tool == part) {
            said.push_str(command);
        } else if let Some((_, typed)) = ARGUMENTS.iter().find(|(argument, _)| *argument == part) {
            said.push_str(typed);
        } else if option != part && has_option(&commands, &option) {
            said.push_str("--");
            said.push_str(&option);
        } else {
            said.push_str(part);
        }
        rest = after;
    }
    said
}

/// Whether the command or one of its subcommands has an option of this name.
fn has_option(command: &clap::Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
        || command.get_subcommands().any(|subcommand| has_option(subcommand, name))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of tools with a command that the command does not take.
    const TOOLS_ONLY: [&str; 8] = [
        "request_context",
        "override_tombstone",
        "source_butler",
        "context_hints",
        "episode_ids",
        "fact_ids",
        "rule_ids",
        "max_entries",
    ];

    #[test]
    fn every_tool_and_argument_that_a_command_stands_for_is_reworded() {
        for tool in butler_memory::tools() {
            let spec = tool.spec();
            let Some(command) = spec.command else {
                assert_eq!(reworded(spec.name), spec.name);
                continue;
            };
            assert_eq!(reworded(spec.name), format!("`{command}`"));
            let arguments = spec.input_schema["properties"].as_object().into_iter().flat_map(|all| all.keys());
            for name in arguments.map(String::as_str).filter(|name| name.contains('_')) {
                let is_kept = reworded(name) == name;
                assert_eq!(is_kept, TOOLS_ONLY.contains(&name), "{name} of {}", spec.name);
            }
        }
    }

    #[test]
    fn the_command_of_every_tool_exists() {
        let cli = Cli::command();
        for command in butler_memory::tools().iter().filter_map(|tool| tool.spec().command) {
            let mut words = command.split(' ');
            assert_eq!(words.next(), Some("butler"), "{command}");
            let mut at = &cli;
            for word in words {
                match (word.strip_prefix("--"), at.find_subcommand(word)) {
                    (Some(option), _) => {
                        assert!(at.get_arguments().any(|one| one.get_long() == Some(option)), "{command}");
                    }
                    (None, Some(subcommand)) => at = subcommand,
                    // the name of a job
                    (None, None) => assert!(at.get_positionals().next().is_some(), "{command}"),
                }
            }
        }
    }

    #[test]
    fn tools_and_arguments_become_commands_and_options() {
        for (said, typed) in [
            (
                "check the id and that memory_type is fact; memory_search finds ids",
                "check the id and that TYPE is fact; `butler search` finds ids",
            ),
            ("content: is required", "--content is required"),
            (
                "target_entity_id: is the same as source_entity_id; an entity cannot be merged with itself",
                "TARGET: is the same as SOURCE; an entity cannot be merged with itself",
            ),
            ("to ask about the future, use valid_at", "to ask about the future, use --valid-at"),
            ("memory_review lists proposals", "`butler review` lists proposals"),
            ("my_entity_id and lives_in are no arguments", "my_entity_id and lives_in are no arguments"),
        ] {
            assert_eq!(reworded(said), typed);
        }
    }
}
