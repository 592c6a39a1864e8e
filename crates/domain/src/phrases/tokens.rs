//! Splits a query into words and numbers.

use chrono_tz::Tz;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::numeric::{Kind, numeric};
use super::words::{Entry, Language, meanings};

/// The punctuation after a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Nothing,
    Comma,
    Dot,
    /// Punctuation that no phrase continues across.
    End,
}

#[derive(Debug)]
pub(super) struct Token {
    /// Bytes of the query.
    pub start: usize,
    pub end: usize,
    /// The word in lower case without accents.
    pub word: String,
    pub kind: Kind,
    pub after: After,
    /// Whether the word begins with a capital letter.
    pub capital: bool,
    pub meanings: &'static [Entry],
}

impl Token {
    /// Whether the token can be the core of a phrase, which every phrase has.
    pub fn is_core(&self, language: Language) -> bool {
        match self.kind {
            Kind::Word => self.meanings.iter().any(|entry| entry.language == language && entry.sense.is_core()),
            Kind::Opaque | Kind::Dash => false,
            _ => true,
        }
    }
}

const OPENING: [char; 14] = ['(', '[', '{', '"', '\'', '«', '“', '„', '‘', '¿', '¡', '*', '_', '`'];
const CLOSING: [char; 19] =
    [')', ']', '}', '"', '\'', '»', '”', '“', '’', '*', '_', '`', '.', ',', ';', ':', '!', '?', '…'];
const APOSTROPHES: [char; 2] = ['\'', '’'];
const DASHES: [char; 2] = ['–', '—'];

/// Splits a query at white space, and words at apostrophes and hyphens.
pub(super) fn tokens(query: &str, zone: Tz) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = query;
    while let Some(from) = rest.find(|c: char| !c.is_whitespace()) {
        let chunk = &rest[from..];
        let chunk = chunk.find(char::is_whitespace).map_or(chunk, |end| &chunk[..end]);
        let start = query.len() - rest.len() + from;
        push_chunk(&mut tokens, chunk, start, zone);
        rest = &query[start + chunk.len()..];
    }
    tokens
}

fn push_chunk(tokens: &mut Vec<Token>, chunk: &str, start: usize, zone: Tz) {
    let opened = chunk.trim_start_matches(OPENING);
    let inner = opened.trim_end_matches(CLOSING);
    let start = start + chunk.len() - opened.len();
    let after = punctuation(&opened[inner.len()..]);
    if inner.is_empty() {
        // Punctuation by itself, such as a bullet or a smiley.
        if let Some(last) = tokens.last_mut() {
            last.after = After::End;
        }
        return;
    }
    let kind = if inner.len() == chunk_dash(inner) { Kind::Dash } else { numeric(inner, zone) };
    match kind {
        Kind::Word if !is_plain(inner) => tokens.push(token(inner, start, Kind::Opaque)),
        Kind::Word => push_words(tokens, inner, start, zone),
        kind => tokens.push(token(inner, start, kind)),
    }
    if let Some(last) = tokens.last_mut() {
        last.after = after;
    }
}

/// The length of the dash that a text begins with.
fn chunk_dash(text: &str) -> usize {
    text.chars().next().filter(|c| DASHES.contains(c) || *c == '-').map_or(0, char::len_utf8)
}

/// Whether a text consists of words, joined by hyphens, dashes or apostrophes, and perhaps a year at the end.
fn is_plain(text: &str) -> bool {
    let is_joint = |c: char| c == '-' || DASHES.contains(&c) || APOSTROPHES.contains(&c);
    let mut parts = text.split(is_joint).rev();
    let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphabetic() || is_combining_mark(c));
    let last = parts.next().unwrap_or_default();
    let is_year = last.len() == 4 && last.bytes().all(|b| b.is_ascii_digit());
    (is_word(last) || is_year) && parts.all(is_word)
}

fn push_words(tokens: &mut Vec<Token>, text: &str, start: usize, zone: Tz) {
    let mut from = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_alphanumeric() && !is_combining_mark(*c)) {
        tokens.push(token(&text[from..at], start + from, Kind::Word));
        from = at + c.len_utf8();
        if DASHES.contains(&c) {
            tokens.push(token(&text[at..from], start + at, Kind::Dash));
        }
    }
    let last = &text[from..];
    tokens.push(token(last, start + from, numeric(last, zone)));
}

fn token(text: &str, start: usize, kind: Kind) -> Token {
    let word = match kind {
        Kind::Word if text.is_ascii() => text.to_ascii_lowercase(),
        Kind::Word => text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect(),
        _ => String::new(),
    };
    let capital = text.starts_with(char::is_uppercase);
    Token { start, end: start + text.len(), meanings: meanings(&word), word, kind, after: After::Nothing, capital }
}

fn punctuation(text: &str) -> After {
    match text.trim_matches(['"', '\'', '”', '“', '’', '*', '_', '`', '»']) {
        "" => After::Nothing,
        "," => After::Comma,
        "." => After::Dot,
        _ => After::End,
    }
}
