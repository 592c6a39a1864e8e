//! Rewords tool errors for the command line. Tools address a model, so their errors name tools and arguments; a person types
//! commands and options.

use butler_host::error::HostError;
use butler_memory::tool::ToolError;

/// Whole phrases that refer to an argument without naming it.
const PHRASES: [(&str, &str); 3] = [
    ("content: is required", "--content is required"),
    ("pass the text that says what both facts said", "give the text that says what both facts said: --content TEXT"),
    ("list them with the action list", "`butler conflicts` and `butler review` list them"),
];

/// Names of tools and arguments, and what to type instead.
const TERMS: [(&str, &str); 33] = [
    ("memory_search", "`butler search`"),
    ("memory_recall", "`butler recall`"),
    ("memory_context", "`butler context`"),
    ("memory_store_episode", "`butler remember episode`"),
    ("memory_store_fact", "`butler remember fact`"),
    ("memory_store_rule", "`butler remember rule`"),
    ("memory_forget", "`butler forget`"),
    ("entity_create", "`butler entity create`"),
    ("entity_resolve", "`butler entity resolve`"),
    ("entity_update", "`butler entity update`"),
    ("entity_merge", "`butler entity merge`"),
    ("entity_forget", "`butler forget --entity`"),
    ("memory_type", "TYPE"),
    ("memory_id", "ID"),
    ("conflict_id", "ID"),
    ("rule_id", "RULE"),
    ("source_entity_id", "SOURCE"),
    ("target_entity_id", "TARGET"),
    ("entity_id", "--entity-id"),
    ("object_entity_id", "--object-entity-id"),
    ("source_episode_id", "--source-episode-id"),
    ("session_id", "--session-id"),
    ("canonical_name", "--name"),
    ("idempotency_key", "--idempotency-key"),
    ("valid_from", "--valid-from"),
    ("valid_to", "--valid-to"),
    ("valid_at", "--valid-at"),
    ("as_of", "--as-of"),
    ("observed_at", "--observed-at"),
    ("occurred_at", "--occurred-at"),
    ("token_budget", "--token-budget"),
    ("min_confidence", "--min-confidence"),
    ("min_relevance", "--min-relevance"),
];

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
    let mut said = String::with_capacity(phrased.len());
    let mut rest = phrased.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        said.push_str(TERMS.iter().find(|(term, _)| *term == part).map_or(part, |(_, typed)| *typed));
        rest = after;
    }
    said
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("my_entity_id and lives_in are no arguments", "my_entity_id and lives_in are no arguments"),
        ] {
            assert_eq!(reworded(said), typed);
        }
    }
}
