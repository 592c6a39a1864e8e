//! Folds text so that spelling tricks do not matter: case, accents, look-alike letters, digits for letters, invisible
//! characters, emphasis and spacing.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::hidden::is_invisible;

/// Greek and Cyrillic letters and others that look like Latin ones, after lower-casing.
const LOOK_ALIKES: [(&str, char); 26] = [
    ("аαɑᴀ", 'a'),
    ("ьвβʙ", 'b'),
    ("сϲᴄς", 'c'),
    ("ԁđᴅ", 'd'),
    ("еєεᴇ℮", 'e'),
    ("ꜰƒ", 'f'),
    ("ɡԍɢ", 'g'),
    ("һнʜ", 'h'),
    ("іїιɪıļłlӏʟ|", 'i'),
    ("јϳᴊ", 'j'),
    ("кκᴋ", 'k'),
    ("мᴍ", 'm'),
    ("пηɴո", 'n'),
    ("оοσøօᴏ", 'o'),
    ("рρᴘ", 'p'),
    ("ԛ", 'q'),
    ("гʀ", 'r'),
    ("ѕꜱ", 's'),
    ("тτᴛ", 't'),
    ("υսᴜ", 'u'),
    ("νѵᴠ", 'v'),
    ("ѡωԝᴡ", 'w'),
    ("хχ", 'x'),
    ("уγүʏ", 'y'),
    ("ᴢ", 'z'),
    ("æ", 'a'),
];

/// Text in lower-case letters and digits. `l` is written as `i`, because both stand for `1` and for each other. Between
/// words is one character: `.` after a sentence or a clause, `\n` after a line, otherwise a space.
pub(super) struct Folded {
    pub text: String,
    /// For each byte of `text` the place in the original where its character starts.
    origins: Vec<usize>,
}

impl Folded {
    pub fn of(original: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(original.len()), origins: Vec::new() };
        let letters = letters(original);
        let mut gap = None;
        for (place, (letter, origin)) in letters.iter().enumerate() {
            let before = if gap.is_none() { folded.text.chars().next_back() } else { None };
            let after = letters.get(place + 1).map(|(letter, _)| *letter);
            match letter_of(*letter, before, after) {
                Some(letter) => {
                    if let Some(gap) = gap.take().filter(|_| !folded.text.is_empty()) {
                        folded.push(gap, *origin);
                    }
                    folded.push(letter, *origin);
                }
                None => gap = stronger(gap, gap_of(*letter, after)),
            }
        }
        folded
    }

    fn push(&mut self, c: char, origin: usize) {
        self.text.push(c);
        self.origins.resize(self.text.len(), origin);
    }

    /// Where a span of the folded text is in the original.
    pub fn origin(&self, span: Range<usize>) -> Range<usize> {
        let last = span.end.saturating_sub(1).max(span.start);
        self.origins[span.start]..self.origins[last] + 1
    }
}

/// The visible characters without accents, in lower case and in Latin letters, with their places.
fn letters(original: &str) -> Vec<(char, usize)> {
    let mut letters = Vec::with_capacity(original.len());
    for (origin, c) in original.char_indices() {
        if c.is_ascii() {
            letters.push((c.to_ascii_lowercase(), origin));
            continue;
        }
        let parts = std::iter::once(c).filter(|c| !is_invisible(*c)).nfkd().filter(|c| !is_combining_mark(*c));
        for c in parts.flat_map(char::to_lowercase) {
            match c {
                'ß' => letters.extend([('s', origin), ('s', origin)]),
                c if is_combining_mark(c) => {}
                c => letters.push((latin(c), origin)),
            }
        }
    }
    letters
}

fn latin(c: char) -> char {
    LOOK_ALIKES.iter().find(|(alike, _)| alike.contains(c)).map_or(c, |(_, latin)| *latin)
}

/// The letter or digit that a character stands for, if it is a part of a word. Digits and signs stand for letters only
/// beside letters.
fn letter_of(c: char, before: Option<char>, after: Option<char>) -> Option<char> {
    let beside_letter = before.is_some_and(char::is_alphabetic) || after.is_some_and(char::is_alphabetic);
    match c {
        'l' => Some('i'),
        '0' if beside_letter => Some('o'),
        '1' if beside_letter => Some('i'),
        '3' if beside_letter => Some('e'),
        '4' if beside_letter => Some('a'),
        '5' if beside_letter => Some('s'),
        '7' if beside_letter => Some('t'),
        '@' if beside_letter => Some('a'),
        '$' if beside_letter => Some('s'),
        '!' if after.is_some_and(char::is_alphabetic) => Some('i'),
        '|' if beside_letter => Some('i'),
        c if c.is_alphanumeric() => Some(c),
        _ => None,
    }
}

/// The end of a sentence outweighs the end of a line, and both outweigh a space.
fn stronger(one: Option<char>, other: Option<char>) -> Option<char> {
    let strength = |gap: &Option<char>| gap.and_then(|gap| [' ', '\n', '.'].iter().position(|known| *known == gap));
    std::cmp::max_by_key(one, other, strength)
}

/// What a character between words leaves behind. Apostrophes leave nothing: `don't` becomes `dont`. A dot inside a
/// name or an address ends no sentence.
fn gap_of(c: char, after: Option<char>) -> Option<char> {
    match c {
        '.' | '?' | ':' if after.is_some_and(|c| c.is_alphanumeric() || c == '/') => Some(' '),
        '\'' | '’' | '‘' | '`' | '´' => None,
        '.' | '!' | '?' | ';' | ':' | '…' | '"' | '“' | '”' | '„' | '«' | '»' | '(' | ')' | '[' | ']' | '{' | '}'
        | '<' | '>' | '¡' | '¿' | '。' | '|' => Some('.'),
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some('\n'),
        _ => Some(' '),
    }
}
