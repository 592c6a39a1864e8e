//! Finding the answer in the text around it: in code fences first, else the outermost braces anywhere.

use super::json::{Json, Reading, read_object};

/// Root and lists are kept when the text ends inside them; an action that is cut is not.
const KEEP_DEPTH: usize = 2;
/// Reading from a brace that is never closed costs the rest of the text; this many such readings are enough.
const UNCLOSED_READINGS: usize = 8;
/// There are four lists; a model that gives each a block of its own and says one twice is within this.
const ANSWERS: usize = 8;

/// An object of an answer, and whether it has a key that we know.
pub(super) struct Found {
    /// Where it begins and ends, as byte offsets in the whole text.
    pub at: usize,
    pub end: usize,
    pub entries: Vec<(String, Json)>,
    pub recognised: bool,
    pub cut_off: bool,
    /// Byte offsets in the whole text.
    pub repairs: Vec<(usize, &'static str)>,
}

/// The objects with a known key, those in fences if any is; without one the first that is an object at all.
pub(super) fn find_objects(text: &str, known: &[&str]) -> Vec<Found> {
    let mut recognised = Vec::new();
    let mut other = None;
    let mut unclosed = 0;
    let fences = fences(text);
    let fenced = fences.len();
    for (number, (base, block)) in fences.into_iter().chain([(0, text)]).enumerate() {
        if number == fenced && !recognised.is_empty() {
            break;
        }
        let mut at = 0;
        while let Some(start) = object_start(block, at) {
            let reading = read_object(block, start, KEEP_DEPTH);
            at = if reading.cut_off { start + 1 } else { reading.end };
            unclosed += usize::from(reading.cut_off);
            let found = into_found(reading, base, start, known);
            match found {
                Some(found) if found.recognised => {
                    let whole = !found.cut_off;
                    recognised.push(found);
                    if whole && recognised.len() < ANSWERS {
                        continue;
                    }
                    // the rest of the block is inside of it
                    break;
                }
                // `{name}` in prose reads as an empty object with a repair: that is no answer.
                Some(found) if other.is_none() && (found.repairs.is_empty() || !found.entries.is_empty()) => {
                    other = Some(found);
                }
                _ => {}
            }
            if unclosed >= UNCLOSED_READINGS {
                return if recognised.is_empty() { other.into_iter().collect() } else { recognised };
            }
        }
    }
    if recognised.is_empty() {
        recognised.extend(other.filter(|found| !(found.cut_off && found.entries.is_empty())));
    }
    recognised
}

fn into_found(reading: Reading, base: usize, start: usize, known: &[&str]) -> Option<Found> {
    let Reading { value, end, cut_off, repairs } = reading;
    let repairs = repairs.into_iter().map(|(at, what)| (base + at, what)).collect();
    let (entries, recognised) = match recognise(value, known) {
        Ok(entries) => (entries, true),
        Err(Json::Object(entries)) => (entries, false),
        Err(_) => return None,
    };
    Some(Found { at: base + start, end: base + end, entries, recognised, cut_off, repairs })
}

/// The object itself or, as some models wrap their answer (`{"result": {…}}`), one directly inside.
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

/// The next `{` behind which a key, a closing brace or a comment follows, as prose rarely has it.
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

/// What stands between lines of three backticks, with its offset. A fence never closed reaches to the end.
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
    fn an_object_with_a_known_key_wins_over_an_earlier_one_without() {
        let text = "```json\n{\"x\": 1}\n```\n```json\n{\"k\": 2}\n```";
        let found = find_objects(text, &["k"]);
        assert!(found.len() == 1 && found[0].recognised);
        assert_eq!(found[0].entries, [("k".to_owned(), Json::Number(2.0))]);
        assert!(text[found[0].at..].starts_with("{\"k\""));
        let other = find_objects(text, &["nope"]);
        assert_eq!((other.len(), other[0].recognised, other[0].entries[0].0.as_str()), (1, false, "x"));
    }

    #[test]
    fn what_stands_in_fences_is_not_found_again_outside_of_them() {
        let text = "```json\n{\"k\": 1}\n```\n{\"k\": 3}\n```json\n{\"l\": 2}\n```";
        let found = find_objects(text, &["k", "l"]);
        let keys: Vec<_> = found.iter().map(|found| found.entries[0].0.as_str()).collect();
        assert_eq!(keys, ["k", "l"]);
        assert_eq!(find_objects("{\"k\": 1} {\"l\": 2}", &["k", "l"]).len(), 2);
    }
}
