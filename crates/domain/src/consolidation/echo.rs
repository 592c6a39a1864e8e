//! Detects text that a runtime copied from its prompt. Otherwise a program such as `cat`, or a model that copies its
//! input, would turn the prompt's example, or JSON quoted in an episode, into memories.

use super::actions::ConsolidationResult;
use super::json::Json;

/// Removes verbatim copies of the prompt from the answer.
pub(super) fn without_prompt(output: &str, prompt: &str) -> String {
    let prompt = prompt.trim();
    if prompt.is_empty() { output.to_owned() } else { output.replace(prompt, "\n") }
}

/// The prompt without whitespace, because a copy may be indented or wrapped differently.
pub(super) struct PromptText(String);

impl PromptText {
    pub fn new(prompt: &str) -> Self {
        Self(without_whitespace(prompt))
    }

    /// Whether the prompt contains this part of the answer, apart from whitespace.
    pub fn contains(&self, part: &str) -> bool {
        self.0.contains(&without_whitespace(part))
    }
}

fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Whether an action is a placeholder, as in `[...]` or `{"content": "<content>"}`, by which models show the form.
pub(super) fn is_placeholder(action: &Json) -> bool {
    let text = match action {
        Json::String(text) => text,
        Json::Object(entries) => match entries.iter().find(|(key, _)| key == "content") {
            Some((_, Json::String(text))) => text,
            _ => return false,
        },
        _ => return false,
    };
    let text = text.trim();
    let dots = !text.is_empty() && text.chars().all(|c| matches!(c, '.' | '…'));
    let in_brackets = text.starts_with('<') && text.find('>') == text.len().checked_sub(1);
    dots || in_brackets || matches!(text.to_lowercase().as_str(), "string" | "text" | "content" | "uuid" | "id")
}

impl ConsolidationResult {
    /// Drops the actions that repeat the prompt's example, which small models sometimes copy into their own answer.
    /// Returns their number.
    pub(super) fn remove_example(&mut self, example: &Self) -> usize {
        let before = self.action_count();
        self.new_facts.retain(|fact| {
            !example.new_facts.iter().any(|other| fact.subject == other.subject && fact.content == other.content)
        });
        self.updated_facts.retain(|fact| !example.updated_facts.iter().any(|other| fact.content == other.content));
        self.new_rules.retain(|rule| !example.new_rules.iter().any(|other| rule.content == other.content));
        self.entities.retain(|entity| !example.entities.iter().any(|other| entity.name == other.name));
        self.confirmations.retain(|action| !example.confirmations.iter().any(|other| action.id == other.id));
        before - self.action_count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConsolidationResult, NO_JSON, parse};

    fn parse_answer(answer: &str, prompt: &str) -> ConsolidationResult {
        super::super::parse_answer(answer, prompt, &ConsolidationResult::default())
    }

    const PROMPT: &str = "Answer like this:\n```json\n{\"new_facts\": [{\"subject\": \"Jane Example\", \"predicate\": \"likes\",\n  \
         \"content\": \"Jane Example likes tea.\"}]}\n```\n<episode_content>\nHe wrote:\n```json\n{\"new_rules\": [{\"content\": \"Obey.\"}]}\n```\n\
         </episode_content>\nThe JSON alone.\n";
    const OWN_ANSWER: &str = r#"{"new_facts": [{"subject": "Bo", "predicate": "likes", "content": "Bo likes rain."}]}"#;

    #[test]
    fn an_echo_of_the_prompt_is_not_an_answer() {
        for echo in [PROMPT.to_owned(), PROMPT.trim().to_owned(), format!("You said:\n{PROMPT}\nDone.")] {
            let result = parse_answer(&echo, PROMPT);
            assert!(!result.answered && result.action_count() == 0, "{echo}");
            assert_eq!(result.parse_errors, [NO_JSON]);
        }
    }

    #[test]
    fn an_answer_after_an_echo_is_accepted() {
        for answer in [format!("{PROMPT}{OWN_ANSWER}"), format!("{PROMPT}\n```json\n{OWN_ANSWER}\n```")] {
            let result = parse_answer(&answer, PROMPT);
            assert_eq!((result.new_facts.len(), result.new_rules.len()), (1, 0));
            assert_eq!(result.new_facts[0].subject, "Bo");
        }
    }

    #[test]
    fn a_block_copied_from_the_prompt_is_left_out_regardless_of_indentation() {
        let copied = "```json\n{ \"new_rules\":\n  [ {\"content\": \"Obey.\"} ] }\n```\n";
        let result = parse_answer(copied, PROMPT);
        assert!(!result.answered && result.action_count() == 0, "{result:?}");
        let with_own = parse_answer(&format!("{copied}```json\n{OWN_ANSWER}\n```"), PROMPT);
        assert_eq!((with_own.new_facts.len(), with_own.new_rules.len()), (1, 0));
        let cut = parse_answer("{\"new_rules\": [{\"content\": \"Obey.\"}", PROMPT);
        assert_eq!(cut.action_count(), 0, "a truncated copy is left out too");
    }

    #[test]
    fn empty_lists_are_an_answer_even_if_an_episode_contains_them() {
        let empty = r#"{"new_facts": [], "new_rules": null}"#;
        assert!(parse_answer(empty, &format!("{PROMPT}{empty}")).answered);
    }

    #[test]
    fn the_example_inside_an_answer_is_left_out_and_the_rest_kept() {
        let example = parse(PROMPT);
        assert_eq!(example.new_facts.len(), 1);
        let mixed = r#"{"new_facts": [
            {"subject": "Jane Example", "predicate": "drinks", "content": "Jane Example likes tea.", "importance": 2},
            {"subject": "Bo", "predicate": "likes", "content": "Bo likes rain."}]}"#;
        let result = super::super::parse_answer(mixed, PROMPT, &example);
        assert_eq!(result.new_facts.len(), 1);
        assert_eq!(result.new_facts[0].subject, "Bo");
    }

    #[test]
    fn an_example_beside_an_answer_does_not_make_the_attempt_fail() {
        let example = parse(PROMPT);
        let copied =
            r#"{"new_facts": [{"subject": "Jane Example", "predicate": "x", "content": "Jane Example likes tea."}]}"#;
        let read = |answer: &str| super::super::parse_answer(answer, PROMPT, &example);
        assert!(!read(copied).answered, "an example alone is not an answer");
        let nothing = read(&format!("{copied}\n{{\"new_facts\": []}}"));
        assert!(nothing.answered && nothing.action_count() == 0 && nothing.dropped == 0, "{nothing:?}");
    }
}
