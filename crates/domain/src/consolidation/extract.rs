//! Locates the JSON objects of an answer within other text: in code fences first, otherwise anywhere in the text.

use super::json::{Json, ParsedObject, read_object};

/// If the text ends inside the object, the root object and its lists are kept; an incomplete action is not.
const KEEP_DEPTH: usize = 2;
/// Parsing from a brace that is never closed reads to the end of the text, so the number of such attempts is limited.
const MAX_UNCLOSED_OBJECTS: usize = 8;
/// There are four lists. A model that gives each its own block and repeats some stays within this limit.
const MAX_ANSWER_OBJECTS: usize = 8;

/// A JSON object in the text of an answer.
pub(super) struct AnswerObject {
    /// Byte offset in the text where the object begins.
    pub start: usize,
    /// Byte offset in the text after the object.
    pub end: usize,
    pub entries: Vec<(String, Json)>,
    /// Whether the object has a known key.
    pub recognised: bool,
    /// Whether the text ended inside the object.
    pub cut_off: bool,
    /// What the reader repaired, with byte offsets in the text.
    pub repairs: Vec<(usize, &'static str)>,
}

/// Finds the objects with a known key, in code fences if there are any. If there are none, returns the first object of
/// any kind.
pub(super) fn find_objects(text: &str, known: &[&str]) -> Vec<AnswerObject> {
    let mut recognised = Vec::new();
    let mut other = None;
    let mut unclosed = 0;
    let fences = fences(text);
    let fence_count = fences.len();
    for (number, (base, block)) in fences.into_iter().chain([(0, text)]).enumerate() {
        if number == fence_count && !recognised.is_empty() {
            break;
        }
        let mut at = 0;
        while let Some(start) = object_start(block, at) {
            let parsed = read_object(block, start, KEEP_DEPTH);
            at = if parsed.cut_off { start + 1 } else { parsed.end };
            unclosed += usize::from(parsed.cut_off);
            match answer_object(parsed, base, start, known) {
                Some(object) if object.recognised => {
                    let complete = !object.cut_off;
                    recognised.push(object);
                    if complete && recognised.len() < MAX_ANSWER_OBJECTS {
                        continue;
                    }
                    // The rest of the block lies inside this object.
                    break;
                }
                // `{name}` in prose parses as an empty object with a repair, which is not an answer.
                Some(object) if other.is_none() && (object.repairs.is_empty() || !object.entries.is_empty()) => {
                    other = Some(object);
                }
                _ => {}
            }
            if unclosed >= MAX_UNCLOSED_OBJECTS {
                return if recognised.is_empty() { other.into_iter().collect() } else { recognised };
            }
        }
    }
    if recognised.is_empty() {
        recognised.extend(other.filter(|object| !(object.cut_off && object.entries.is_empty())));
    }
    recognised
}

/// Converts a parsed value that starts at `start` within the block at `base`.
fn answer_object(parsed: ParsedObject, base: usize, start: usize, known: &[&str]) -> Option<AnswerObject> {
    let ParsedObject { value, end, cut_off, repairs } = parsed;
    let repairs = repairs.into_iter().map(|(at, what)| (base + at, what)).collect();
    let (entries, recognised) = match recognise(value, known) {
        Ok(entries) => (entries, true),
        Err(Json::Object(entries)) => (entries, false),
        Err(_) => return None,
    };
    Some(AnswerObject { start: base + start, end: base + end, entries, recognised, cut_off, repairs })
}

/// Returns the object's entries if it has a known key, or those of an object directly inside it, because some models
/// wrap their answer (`{"result": {…}}`). Otherwise returns the value unchanged as the error.
fn recognise(value: Json, known: &[&str]) -> Result<Vec<(String, Json)>, Json> {
    let knows = |entries: &[(String, Json)]| entries.iter().any(|(key, _)| known.contains(&key.as_str()));
    match value {
        Json::Object(entries) if knows(&entries) => Ok(entries),
        Json::Object(mut entries) => {
            let inner = entries.iter().position(|(_, value)| matches!(value, Json::Object(inner) if knows(inner)));
            match inner.map(|i| entries.swap_remove(i).1) {
                Some(Json::Object(inner)) => Ok(inner),
                _ => Err(Json::Object(entries)),
            }
        }
        other => Err(other),
    }
}

/// The next `{` that is followed by a key, a closing brace or a comment, which is rare in prose.
fn object_start(text: &str, from: usize) -> Option<usize> {
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
    fn an_object_with_a_known_key_is_preferred_to_an_earlier_one_without() {
        let text = "```json\n{\"x\": 1}\n```\n```json\n{\"k\": 2}\n```";
        let objects = find_objects(text, &["k"]);
        assert!(objects.len() == 1 && objects[0].recognised);
        assert_eq!(objects[0].entries, [("k".to_owned(), Json::Number(2.0))]);
        assert!(text[objects[0].start..].starts_with("{\"k\""));
        let other = find_objects(text, &["nope"]);
        assert_eq!((other.len(), other[0].recognised, other[0].entries[0].0.as_str()), (1, false, "x"));
    }

    #[test]
    fn objects_outside_of_fences_are_ignored_if_a_fence_has_an_answer() {
        let text = "```json\n{\"k\": 1}\n```\n{\"k\": 3}\n```json\n{\"l\": 2}\n```";
        let objects = find_objects(text, &["k", "l"]);
        let keys: Vec<_> = objects.iter().map(|object| object.entries[0].0.as_str()).collect();
        assert_eq!(keys, ["k", "l"]);
        assert_eq!(find_objects("{\"k\": 1} {\"l\": 2}", &["k", "l"]).len(), 2);
    }
}
