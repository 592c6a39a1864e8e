//! Finds characters that hide text from people.

use super::{Kind, Reason};

/// Emoji need single joiners; a longer run carries data.
const RUN: usize = 3;

/// Whether a character shows nothing.
pub(super) fn is_invisible(c: char) -> bool {
    is_zero_width(c)
        || is_tag(c)
        || is_selector(c)
        || is_reordering(c)
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}')
}

pub(super) fn find(text: &str) -> Option<Reason> {
    if text.is_ascii() {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let right_to_left = chars.iter().any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
    let found = chars.iter().enumerate().find(|(place, c)| match **c {
        // A flag of a region is a black flag with tags.
        c if is_tag(c) => !is_flag(&chars[..*place]),
        '\u{202d}' | '\u{202e}' => true,
        c if is_reordering(c) => !right_to_left,
        c if is_zero_width(c) => run(&chars[*place..], is_zero_width) >= RUN,
        c if is_selector(c) => run(&chars[*place..], is_selector) >= RUN,
        _ => false,
    })?;
    let hidden: String =
        chars.iter().filter(|c| is_tag(**c)).filter_map(|c| char::from_u32(*c as u32 - 0xe_0000)).collect();
    let readable: String = hidden.chars().filter(|c| !c.is_control()).take(super::EXCERPT_CHARS).collect();
    let excerpt = format!("U+{:04X} at character {}", *found.1 as u32, found.0 + 1);
    let excerpt = if readable.is_empty() { excerpt } else { format!("{excerpt}, hidden text: {readable}") };
    Some(Reason { kind: Kind::HiddenUnicode, excerpt })
}

fn run(chars: &[char], belongs: fn(char) -> bool) -> usize {
    chars.iter().take(RUN).take_while(|c| belongs(**c)).count()
}

fn is_flag(before: &[char]) -> bool {
    // The longest flag has six tags.
    before.iter().rev().take(7).find(|c| !is_tag(**c)) == Some(&'\u{1f3f4}')
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Variation selectors, of which a run can encode bytes.
fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
