//! One kind of secret: where to look for it, and what it looks like there.

use std::ops::{Range, RangeInclusive};

use regex::{Captures, Regex};

/// Longer than any token without a window of its own. It keeps a text full of anchors cheap.
const WINDOW: usize = 640;
/// Web tokens with many claims reach several kilobytes.
const LONG_WINDOW: usize = 16 * 1024;

/// What must precede the anchor.
pub(super) enum Start {
    /// The anchor starts the secret, and no letter, digit or `_` precedes it.
    Token,
    /// The anchor is a word such as `password`, which may be a part of a name.
    Anywhere,
    /// The secret starts this many bytes before the anchor, as long as the bytes pass the test.
    Before(RangeInclusive<usize>, fn(u8) -> bool),
}

/// How far a secret can reach from its start.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    Short,
    Long,
    Unlimited,
}

pub(super) struct Rule {
    /// What the mark says in place of the secret.
    pub name: &'static str,
    /// Literals of which the secret or its context contains at least one, in any case.
    pub anchors: &'static [&'static str],
    /// Matched from the start. If it has groups, the first that takes part is the secret. `<assign>` stands for what
    /// assigns a value to a name, `<sep>` for this or a space, each with quotes, and `<end>` for the end of a word.
    pub pattern: &'static str,
    pub start: Start,
    pub reach: Reach,
    /// Rejects values that only look like a secret.
    pub check: fn(&str) -> bool,
}

impl Rule {
    /// A rule for tokens that a fixed prefix identifies.
    pub const fn prefix(name: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Self {
        let check = super::randomness::is_varied;
        Self { name, anchors, pattern, start: Start::Token, reach: Reach::Short, check }
    }

    /// A rule for values that only the name before them identifies.
    pub const fn context(name: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Self {
        Self { start: Start::Anywhere, ..Self::prefix(name, anchors, pattern) }
    }

    pub const fn reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    pub const fn start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    pub const fn check(self, check: fn(&str) -> bool) -> Self {
        Self { check, ..self }
    }

    pub fn compile(&self) -> Regex {
        let separator = r#"\\?["'`]?\s{0,3}(?:=>|:=|[:=,]|(?-u:\b)is(?-u:\b)|\s)\s{0,3}\\?["'`]?"#;
        let assignment = r#"\\?["'`]?\s{0,3}(?:=>|:=|[:=]|(?-u:\b)is(?-u:\b))\s{0,3}"#;
        let fragments = [("<sep>", separator), ("<assign>", assignment), ("<end>", r"(?-u:\b)")];
        let pattern =
            fragments.iter().fold(self.pattern.to_owned(), |pattern, (name, part)| pattern.replace(name, part));
        Regex::new(&format!(r"\A(?:{pattern})")).expect("the pattern of a standard rule is valid")
    }

    /// The secret whose anchor starts at `anchor`.
    pub fn find(&self, regex: &Regex, text: &str, anchor: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let start = match &self.start {
            Start::Anywhere | Start::Token => anchor,
            Start::Before(length, belongs) => {
                let before = bytes[..anchor].iter().rev().take(*length.end());
                let before = before.take_while(|byte| belongs(**byte)).count();
                let start = length.contains(&before).then_some(anchor - before)?;
                start + usize::from(is_escape(&bytes[..=start]))
            }
        };
        if !matches!(self.start, Start::Anywhere) && !is_boundary(&bytes[..start]) {
            return None;
        }
        // Otherwise a text such as `-eyJ-eyJ…` would be scanned again from each anchor.
        if matches!(self.reach, Reach::Long) && bytes[..start].ends_with(b"-") {
            return None;
        }
        let end = match self.reach {
            Reach::Short => text.floor_char_boundary(start.saturating_add(WINDOW)),
            Reach::Long => text.floor_char_boundary(start.saturating_add(LONG_WINDOW)),
            Reach::Unlimited => text.len(),
        };
        let found = span(&regex.captures(&text[start..end])?)?;
        let mut found = start + found.start..start + found.end;
        if !(self.check)(&text[found.clone()]) {
            return None;
        }
        if found.end == end {
            let belongs = |byte: &&u8| is_token_byte(**byte) || matches!(byte, b'+' | b'/' | b'=' | b'.');
            found.end += bytes[end..].iter().take_while(belongs).count();
        }
        Some(found)
    }
}

/// The first group that takes part in a match, or the whole match if it has no groups.
pub(super) fn span(captures: &Captures<'_>) -> Option<Range<usize>> {
    let group = captures.iter().skip(1).flatten().next();
    group.or_else(|| captures.get(0)).map(|found| found.range())
}

/// Whether a token can start after these bytes. An escape such as `\n`, `%20` or a terminal's colour ends with a letter
/// or digit, but the text it stands for does not.
fn is_boundary(before: &[u8]) -> bool {
    match before {
        before if is_escape(before) => true,
        [before @ .., b'm'] if ends_with_colour(before) => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

/// Whether the bytes end with the start of a terminal's colour, such as `ESC [ 0`. The log has colours in a terminal.
fn ends_with_colour(bytes: &[u8]) -> bool {
    let codes = bytes.iter().rev().take(12).take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    bytes[..bytes.len() - codes].ends_with(b"\x1b[")
}

fn is_escape(before: &[u8]) -> bool {
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
}

pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
