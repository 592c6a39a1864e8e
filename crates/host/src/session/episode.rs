//! Turns a conversation into the text of an episode, within a size limit.

/// Maximum length of one prompt or answer: an LLM later reads the episode together with dozens of others.
const MAX_TURN_CHARS: usize = 4_000;
/// Maximum length of a whole conversation, about 6000 tokens.
const MAX_TRANSCRIPT_CHARS: usize = 24_000;

/// The text of an episode with one prompt and its answer.
pub(super) fn of_exchange(prompt: &str, answer: &str) -> String {
    transcript_of([("User", prompt), ("Assistant", answer)])
}

/// The text of a conversation, turn by turn. The middle of a long conversation is cut out.
pub fn transcript_of<'a>(turns: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let lines: Vec<String> = turns
        .into_iter()
        .filter(|(_, said)| !said.trim().is_empty())
        .map(|(who, said)| format!("{who}: {}", bounded(said.trim(), MAX_TURN_CHARS)))
        .collect();
    bounded(&lines.join("\n\n"), MAX_TRANSCRIPT_CHARS)
}

/// Shortens a text that is longer than `max` characters to its beginning and its end, with a mark between them.
pub fn bounded(text: &str, max: usize) -> String {
    const MARK: &str = "\n[…]\n";
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let half = max.saturating_sub(MARK.chars().count()) / 2;
    let start = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let end = match half.checked_sub(1) {
        Some(last) => text.char_indices().rev().nth(last).map_or(0, |(at, _)| at),
        None => text.len(),
    };
    format!("{}{MARK}{}", &text[..start], &text[end.max(start)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text = format!("begin{}end", "ü".repeat(10_000));
        let short = bounded(&text, 100);
        assert!(short.chars().count() <= 100 && short.starts_with("begin") && short.ends_with("end"), "{short}");
        assert_eq!(bounded("short", 100), "short");
        assert_eq!(bounded("abc", 0), "\n[…]\n");
    }

    #[test]
    fn empty_turns_are_left_out() {
        assert_eq!(transcript_of([("User", " hello "), ("Assistant", " \n")]), "User: hello");
    }
}
