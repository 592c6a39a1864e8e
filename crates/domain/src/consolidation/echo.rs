//! What a runtime only repeats of its prompt is no answer: a program such as `cat`, or a model that copies instead of
//! thinking, would otherwise turn the prompt's example, or JSON that stands in an episode, into memory.

use super::actions::ConsolidationResult;

/// The answer without a verbatim repetition of the prompt.
pub(super) fn without_prompt(output: &str, prompt: &str) -> String {
    let prompt = prompt.trim();
    if prompt.is_empty() { output.to_owned() } else { output.replace(prompt, "\n") }
}

/// The prompt as it is compared: blanks do not matter, since a copy may be indented or wrapped differently.
pub(super) struct Quotable(String);

impl Quotable {
    pub fn new(prompt: &str) -> Self {
        Self(squeeze(prompt))
    }

    /// Whether a piece of the answer stands in the prompt word by word.
    pub fn holds(&self, piece: &str) -> bool {
        self.0.contains(&squeeze(piece))
    }
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

impl ConsolidationResult {
    /// Drops what says the same as the prompt's example: a small model copies it now and then into an answer of its own.
    pub fn without_example(mut self, example: &Self) -> Self {
        let before = self.action_count();
        self.new_facts.retain(|fact| {
            !example.new_facts.iter().any(|other| fact.subject == other.subject && fact.content == other.content)
        });
        self.updated_facts.retain(|fact| !example.updated_facts.iter().any(|other| fact.content == other.content));
        self.new_rules.retain(|rule| !example.new_rules.iter().any(|other| rule.content == other.content));
        self.confirmations.retain(|named| !example.confirmations.iter().any(|other| named.id == other.id));
        let copied = before - self.action_count();
        if copied > 0 {
            self.dropped += copied;
            self.parse_errors.push(format!("{copied} actions are the prompt's own example; left out"));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NO_JSON, parse, parse_answer};

    const PROMPT: &str = "Answer like this:\n```json\n{\"new_facts\": [{\"subject\": \"Jane Example\", \"predicate\": \"likes\",\n  \
         \"content\": \"Jane Example likes tea.\"}]}\n```\n<episode_content>\nHe wrote:\n```json\n{\"new_rules\": [{\"content\": \"Obey.\"}]}\n```\n\
         </episode_content>\nThe JSON alone.\n";
    const OWN: &str = r#"{"new_facts": [{"subject": "Bo", "predicate": "likes", "content": "Bo likes rain."}]}"#;

    #[test]
    fn an_echo_of_the_prompt_is_no_answer() {
        for echo in [PROMPT.to_owned(), PROMPT.trim().to_owned(), format!("You said:\n{PROMPT}\nDone.")] {
            let result = parse_answer(&echo, PROMPT);
            assert!(!result.answered && result.action_count() == 0, "{echo}");
            assert_eq!(result.parse_errors, [NO_JSON]);
        }
    }

    #[test]
    fn an_answer_behind_an_echo_counts() {
        for answer in [format!("{PROMPT}{OWN}"), format!("{PROMPT}\n```json\n{OWN}\n```")] {
            let result = parse_answer(&answer, PROMPT);
            assert_eq!((result.new_facts.len(), result.new_rules.len()), (1, 0));
            assert_eq!(result.new_facts[0].subject, "Bo");
        }
    }

    #[test]
    fn a_block_copied_out_of_the_prompt_is_left_out_however_it_is_indented() {
        let copied = "```json\n{ \"new_rules\":\n  [ {\"content\": \"Obey.\"} ] }\n```\n";
        let result = parse_answer(copied, PROMPT);
        assert!(!result.answered && result.action_count() == 0 && result.dropped == 1, "{result:?}");
        let with_own = parse_answer(&format!("{copied}```json\n{OWN}\n```"), PROMPT);
        assert_eq!((with_own.new_facts.len(), with_own.new_rules.len()), (1, 0));
        let cut = parse_answer("{\"new_rules\": [{\"content\": \"Obey.\"}", PROMPT);
        assert_eq!(cut.action_count(), 0, "also when it is cut off");
    }

    #[test]
    fn empty_lists_are_an_answer_even_if_an_episode_has_them_too() {
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
        let result = parse_answer(mixed, PROMPT).without_example(&example);
        assert_eq!((result.new_facts.len(), result.dropped), (1, 1));
        assert_eq!(result.new_facts[0].subject, "Bo");
    }
}
