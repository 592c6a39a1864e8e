//! Makes text safe to show: stored text must not control a terminal or forge a line of the log.

use std::borrow::Cow;

/// Replaces control characters, and those that reverse the direction of text, by escapes such as `\u001b`. Line breaks,
/// tabs and colours stay. The escapes are also valid in JSON.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\n' | '\t' => 1,
            '\r' if rest.starts_with("\r\n") => 2,
            '\x1b' => colour(rest),
            c if is_hidden(c) => 0,
            c => c.len_utf8(),
        };
        if length == 0 {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
        shown.push_str(&rest[..length]);
        rest = &rest[length.max(c.len_utf8())..];
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// The length of a sequence that only changes the colour; 0 if there is none.
fn colour(text: &str) -> usize {
    let Some(codes) = text.strip_prefix("\x1b[") else { return 0 };
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(codes.len());
    if codes[end..].starts_with('m') { "\x1b[".len() + end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible_and_colours_stay() {
        for plain in ["", "Anna\tis\nhere\r\n", "\x1b[1;31merror:\x1b[0m Zoë"] {
            assert_eq!(visible(plain), plain);
        }
        assert_eq!(visible("a\x1b[2Jb\x1b]0;title\x07"), "a\\u001b[2Jb\\u001b]0;title\\u0007");
        assert_eq!(visible("x\ry\u{9b}31mz\u{7f}\u{202e}"), "x\\u000dy\\u009b31mz\\u007f\\u202e");
        assert_eq!(visible("\x1b"), "\\u001b");
    }
}
