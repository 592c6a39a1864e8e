//! Lone surrogates in JSON. Clients that cut a text in the middle of an emoji send `\ud83d` without its second half,
//! which is not a character and which a strict parser refuses.

use std::borrow::Cow;

/// Replaces each escape of a lone surrogate by the replacement character. The length stays the same.
pub fn replace_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    let mut fixed = Cow::Borrowed(json);
    let mut at = 0;
    while let Some(found) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        let Some(code) = escape(json, at) else {
            // Another escape, such as `\\` or `\n`.
            at = (at + 2).min(json.len());
            continue;
        };
        let is_pair = (0xD800..0xDC00).contains(&code)
            && escape(json, at + 6).is_some_and(|second| (0xDC00..0xE000).contains(&second));
        if is_pair {
            at += 12;
            continue;
        }
        if (0xD800..0xE000).contains(&code) {
            fixed.to_mut()[at..at + 6].copy_from_slice(b"\\ufffd");
        }
        at += 6;
    }
    fixed
}

/// The code of the escape `\uXXXX` at `at`.
fn escape(json: &[u8], at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_everything_else_is_kept() {
        for (given, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\ud83d\ude00 \uDE00x\ud83d\n""#, r#""\ud83d\ude00 \ufffdx\ufffd\n""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \u00e9 \uZZZZ \u12""#, r#""\\ud83d \u00e9 \uZZZZ \u12""#),
            (r"\", r"\"),
        ] {
            assert_eq!(replace_lone_surrogates(given.as_bytes()), expected.as_bytes(), "{given}");
        }
        let fixed = replace_lone_surrogates(br#"{"text": "half \ud83d"}"#);
        let value: serde_json::Value = serde_json::from_slice(&fixed).unwrap();
        assert_eq!(value["text"], "half \u{fffd}");
    }
}
