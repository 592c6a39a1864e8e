//! Locates the JSON objects of an answer within other text. Code fences separate them; it does not matter whether an
//! object is in one.

use super::json::{Json, ParsedObject, read_object};

/// The lists of an answer.
pub(super) const KEYS: [&str; 5] = ["new_facts", "updated_facts", "new_rules", "confirmations", ENTITIES];
/// On its own it does not make an object an answer: it is a word that models use for other things, too.
pub(super) const ENTITIES: &str = "entities";
/// If the text ends inside the object, the root object and its lists are kept; an incomplete action is not.
const KEEP_DEPTH: usize = 2;
/// Parsing from a brace that is never closed reads to the end of the text, so the number of such attempts is limited.
pub(super) const MAX_UNCLOSED_OBJECTS: usize = 8;
/// Enough for a model that writes one object per action.
const MAX_ANSWER_OBJECTS: usize = 256;

/// A JSON object with at least one of the known lists.
pub(super) struct AnswerObject {
    /// Byte offset in the text where the object begins.
    pub start: usize,
    /// Byte offset in the text after the object.
    pub end: usize,
    /// The known lists, by their proper names.
    pub lists: Vec<(&'static str, Json)>,
    /// Whether the object is incomplete.
    pub cut_off: bool,
    /// What the reader repaired, with byte offsets in the text.
    pub repairs: Vec<(usize, &'static str)>,
}

#[derive(Default)]
pub(super) struct FoundObjects {
    pub answers: Vec<AnswerObject>,
    /// Whether there is an object without any known list.
    pub others: bool,
    unclosed: usize,
}

/// Finds all objects with a known list, in their order.
pub(super) fn find_objects(text: &str) -> FoundObjects {
    let mut found = FoundObjects::default();
    let mut end = 0;
    for (start, block) in fences(text) {
        found.scan(end, &text[end..start]);
        found.scan(start, block);
        end = start + block.len();
    }
    found.scan(end, &text[end..]);
    found
}

impl FoundObjects {
    /// Searches the block that begins at byte `base` of the text.
    fn scan(&mut self, base: usize, block: &str) {
        let mut at = 0;
        while let Some(start) = object_start(block, at) {
            if self.unclosed >= MAX_UNCLOSED_OBJECTS || self.answers.len() >= MAX_ANSWER_OBJECTS {
                return;
            }
            let parsed = read_object(block, start, KEEP_DEPTH);
            let end = parsed.end;
            let inner = answer_start(&block[..end], start + 1);
            let cut_off = parsed.cut_off || parsed.is_doubtful() && inner.is_some();
            self.unclosed += usize::from(cut_off);
            at = match (cut_off, has_lists(&parsed.value)) {
                (false, true) => {
                    self.push(base, start, parsed);
                    end
                }
                // A model that starts again writes its next answer inside what looks like the unclosed object.
                (true, true) => {
                    let next = inner.unwrap_or(end);
                    let partial = read_object(&block[..next], start, KEEP_DEPTH);
                    self.push(base, start, ParsedObject { cut_off: true, ..partial });
                    next
                }
                (true, false) => {
                    self.others |= !is_empty(&parsed);
                    start + 1
                }
                // Some models wrap their answer, as in `{"result": {…}}`.
                (false, false) => inner.unwrap_or_else(|| {
                    self.wrapped_in_text(base, start, &parsed);
                    end
                }),
            };
        }
    }

    fn push(&mut self, base: usize, start: usize, parsed: ParsedObject) {
        let ParsedObject { value, end, cut_off, repairs } = parsed;
        let Json::Object(entries) = value else { return };
        let lists = entries.into_iter().filter_map(|(key, value)| Some((known_key(&key)?, value))).collect();
        let repairs = repairs.into_iter().map(|(at, what)| (base + at, what)).collect();
        self.answers.push(AnswerObject { start: base + start, end: base + end, lists, cut_off, repairs });
    }

    /// Adds the answer that the object contains as text, as in `{"arguments": "{\"new_facts\": …}"}`. Otherwise records
    /// that there is an object of another kind.
    fn wrapped_in_text(&mut self, base: usize, start: usize, outer: &ParsedObject) {
        if let Some((text, at)) = text_with_answer(&outer.value) {
            let inner = read_object(text, at, KEEP_DEPTH);
            self.push(base, start, ParsedObject { end: outer.end, repairs: Vec::new(), ..inner });
        } else {
            // `{name}` in prose parses as an empty object with a repair, which is not an answer.
            self.others |= outer.repairs.is_empty() || !is_empty(outer);
        }
    }
}

fn is_empty(parsed: &ParsedObject) -> bool {
    matches!(&parsed.value, Json::Object(entries) if entries.is_empty())
}

fn has_lists(value: &Json) -> bool {
    matches!(value, Json::Object(entries) if entries.iter().any(|(key, _)| known_key(key).is_some()))
}

fn text_with_answer(value: &Json) -> Option<(&str, usize)> {
    match value {
        Json::String(text) => Some((text.as_str(), answer_start(text, 0)?)),
        Json::Array(items) => items.iter().find_map(text_with_answer),
        Json::Object(entries) => entries.iter().find_map(|(_, value)| text_with_answer(value)),
        _ => None,
    }
}

/// The proper name of a list. Models also write `newFacts` and `New Facts`.
fn known_key(key: &str) -> Option<&'static str> {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase())
    }
    KEYS.into_iter().find(|known| key.len() < 2 * known.len() && letters(known).eq(letters(key)))
}

/// The next `{` that is followed by a key, a closing brace or a comment, which is rare in prose.
pub(super) fn object_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(brace) = bytes.get(at..)?.iter().position(|b| *b == b'{') {
        let start = at + brace;
        let next = bytes[start + 1..].iter().find(|b| !b.is_ascii_whitespace());
        if next.is_none_or(|b| matches!(b, b'"' | b'\'' | b'}' | b'/' | b'_') || b.is_ascii_alphabetic()) {
            return Some(start);
        }
        at = start + 1;
    }
    None
}

/// The next `{` that is followed by a known list.
fn answer_start(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(start) = object_start(text, at) {
        let key = text[start + 1..].trim_ascii_start().trim_start_matches(['"', '\'']);
        let length = key.bytes().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b' ')).count();
        if known_key(&key[..length]).is_some() {
            return Some(start);
        }
        at = start + 1;
    }
    None
}

/// The text between lines of three backticks, with its byte offset. An unclosed fence extends to the end.
fn fences(text: &str) -> Vec<(usize, &str)> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let here = offset + indent;
        offset += line.len();
        let Some(rest) = line.trim().strip_prefix("```") else { continue };
        match open.take() {
            Some(start) => blocks.push((start, &text[start..here])),
            None if rest.ends_with("```") && rest.len() > 3 => {
                blocks.push((here + 3, &text[here + 3..here + rest.len()]));
            }
            None => open = Some(here + 3),
        }
    }
    blocks.extend(open.map(|start| (start, &text[start..])));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(text: &str) -> Vec<(&'static str, bool)> {
        find_objects(text).answers.iter().map(|object| (object.lists[0].0, object.cut_off)).collect()
    }

    #[test]
    fn fences_are_found_wherever_they_open_and_close() {
        let text = "a\n```json\n{1}\n```\nb\n  ```{2}```\n```\n{3";
        let blocks: Vec<_> = fences(text).into_iter().map(|(_, b)| b.trim()).collect();
        assert_eq!(blocks, ["json\n{1}", "{2}", "{3"]);
        for (base, block) in fences(text) {
            assert_eq!(&text[base..base + block.len()], block);
        }
    }

    #[test]
    fn answers_are_found_inside_and_outside_of_fences_in_order() {
        let text =
            "{\"new_rules\": []} ```json\n{\"x\": 1}\n```\n```json\n{\"new_facts\": 2}\n```\n{\"confirmations\": 3}";
        assert_eq!(lists(text), [("new_rules", false), ("new_facts", false), ("confirmations", false)]);
        for object in find_objects(text).answers {
            assert!(text[object.start..object.end].starts_with('{') && text[object.start..object.end].ends_with('}'));
        }
        let other = find_objects("{\"x\": 1}");
        assert!(other.others && other.answers.is_empty());
    }

    #[test]
    fn an_answer_that_starts_again_is_found_after_the_incomplete_one() {
        let restart = "{\"new_facts\": [{\"subject\": \"An\n\nAgain: {\"new_facts\": [{\"subject\": \"Bo\"}]}";
        assert_eq!(lists(restart), [("new_facts", true), ("new_facts", false)]);
        let restart = "{\"new_facts\": [{\"subject\": \"An\"},\n\nAgain: {\"new_rules\": []}";
        assert_eq!(lists(restart), [("new_facts", true), ("new_rules", false)]);
    }

    #[test]
    fn an_answer_is_found_inside_a_wrapper() {
        for text in [
            r#"{"result": {"new_facts": []}}"#,
            r#"[{"a": {"b": [{"newFacts": []}]}}]"#,
            r#"{"name": "store", "arguments": "{\"new_facts\": []}"}"#,
            r#"{"thoughts": "none", "New Facts": []}"#,
        ] {
            assert_eq!(lists(text), [("new_facts", false)], "{text}");
        }
    }
}
