//! What is kept of a session: who said what, bounded.

/// Of one prompt or answer. An episode is read by an LLM later, together with dozens of others.
const SAID_CHARS: usize = 4_000;
/// Of a whole conversation: some 6000 tokens.
const TRANSCRIPT_CHARS: usize = 24_000;

/// A prompt and its answer.
pub(super) fn of_exchange(prompt: &str, answer: &str) -> String {
    transcript_of([("User", prompt), ("Assistant", answer)])
}

/// A conversation, turn by turn; of one that is too long the beginning and the end.
pub fn transcript_of<'a>(turns: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let lines: Vec<String> = turns
        .into_iter()
        .filter(|(_, said)| !said.trim().is_empty())
        .map(|(who, said)| format!("{who}: {}", bounded(said.trim(), SAID_CHARS)))
        .collect();
    bounded(&lines.join("\n\n"), TRANSCRIPT_CHARS)
}

/// The text, or its beginning and its end with a mark between them.
pub fn bounded(text: &str, most: usize) -> String {
    const MARK: &str = "\n[…]\n";
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let half = most.saturating_sub(MARK.chars().count()) / 2;
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
    fn who_said_nothing_is_left_out() {
        assert_eq!(transcript_of([("User", " hello "), ("Assistant", " \n")]), "User: hello");
    }
}
