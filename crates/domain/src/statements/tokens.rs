//! Splits a statement into words and numbers, without accents and case.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Folded: lower case, without accents.
    pub(super) text: String,
    pub(super) capital: bool,
    /// It has a capital letter after its first character, like an acronym.
    pub(super) inner_capital: bool,
    pub(super) starts_sentence: bool,
    /// A comma, a bracket or the end of a sentence stands between the words of two clauses.
    pub(super) clause: usize,
}

/// Lower case without accents, so that the tables of words hold one spelling.
pub(super) fn fold(text: &str) -> String {
    // Marks of other scripts distinguish words; the accents of Latin, Greek and Cyrillic are left out when people type.
    text.nfkd()
        .filter(|c| !(is_combining_mark(*c) && matches!(c, '\u{300}'..='\u{36f}')))
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let text: Vec<char> = text.nfc().collect();
    let mut found = Vec::new();
    let (mut clause, mut starts_sentence, mut at) = (0, true, 0);
    while let Some(&c) = text.get(at) {
        let end = word_end(&text, at);
        if end > at {
            push_words(&mut found, &text[at..end], starts_sentence, clause);
            starts_sentence = false;
            at = end;
            continue;
        }
        if matches!(c, '.' | '!' | '?' | ':' | '\n' | '。' | '•') {
            starts_sentence = true;
        }
        if starts_sentence || matches!(c, ',' | ';' | '(' | ')' | '–' | '—' | '、') {
            clause += 1;
        }
        at += 1;
    }
    found
}

/// The end of the word that starts here, or `at` if none does.
fn word_end(text: &[char], at: usize) -> usize {
    let is_digit = |place: usize| text.get(place).is_some_and(char::is_ascii_digit);
    let c = text[at];
    if matches!(c, '%' | '€' | '$' | '£') {
        return at + 1;
    }
    let before = at.checked_sub(1).map(|place| text[place]);
    let signed = c == '-' && is_digit(at + 1) && before.is_none_or(|b| b.is_whitespace() || b == '(');
    if !(c.is_alphanumeric() || signed || c == '°') {
        return at;
    }
    let mut end = at + 1;
    while let Some(&c) = text.get(end) {
        let inner = match c {
            '\'' | '’' => {
                text[end - 1].is_alphanumeric() && text.get(end + 1).is_some_and(|next| next.is_alphanumeric())
            }
            // "3-5" is a range of two numbers, "2024-03-05" a date.
            '.' | ',' | ':' | '/' => is_digit(end - 1) && is_digit(end + 1),
            '-' => is_iso_date(&text[at..], end - at),
            _ => c.is_alphanumeric() || is_combining_mark(c),
        };
        if !inner {
            break;
        }
        end += 1;
    }
    end
}

/// Whether the hyphen at `at` separates the parts of a date such as 2024-03-05.
fn is_iso_date(word: &[char], at: usize) -> bool {
    let digits = |from: usize, to: usize| word.get(from..to).is_some_and(|part| part.iter().all(char::is_ascii_digit));
    (at == 4 || at == 7)
        && digits(0, 4)
        && word.get(4) == Some(&'-')
        && digits(5, 7)
        && word.get(7) == Some(&'-')
        && digits(8, 10)
}

/// Adds a word, without a possessive `'s`. A French article or `n'` before an apostrophe is a word of its own.
fn push_words(found: &mut Vec<Token>, word: &[char], starts_sentence: bool, clause: usize) {
    let parts: Vec<&[char]> = match word.iter().position(|c| matches!(c, '\'' | '’')) {
        Some(place) if place <= 2 && word.len() > place + 2 => vec![&word[..place], &word[place + 1..]],
        Some(place) if matches!(word[place + 1..], ['s' | 'S']) => vec![&word[..place]],
        _ => vec![word],
    };
    for (place, part) in parts.into_iter().enumerate() {
        found.push(Token {
            text: fold(&part.iter().map(|c| if *c == '’' { '\'' } else { *c }).collect::<String>()),
            capital: part.first().is_some_and(|c| c.is_uppercase()),
            inner_capital: part.iter().skip(1).any(|c| c.is_uppercase()),
            starts_sentence: starts_sentence && place == 0,
            clause,
        });
    }
}

/// The word without the common endings of English, so that "lives", "living" and "lived" compare equal.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) || word.len() < 4 {
        return word.to_owned();
    }
    let undoubled = |stem: &str| {
        let bytes = stem.as_bytes();
        let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
        let kept = matches!(bytes.last(), Some(b'l' | b's' | b'z'));
        stem[..stem.len() - usize::from(doubled && !kept)].to_owned()
    };
    let mut stem = if let Some(base) = word.strip_suffix("ies").filter(|base| base.len() > 1) {
        format!("{base}y")
    } else if let Some(base) = word.strip_suffix("ing").filter(|base| base.len() > 2) {
        undoubled(base)
    } else if let Some(base) = word.strip_suffix("ed").filter(|base| base.len() > 2) {
        undoubled(base)
    } else if let Some(base) = word.strip_suffix("es").filter(|base| base.ends_with(['s', 'x', 'z', 'h', 'o'])) {
        base.to_owned()
    } else if let Some(base) = word.strip_suffix('s').filter(|base| !base.ends_with(['s', 'u', 'i'])) {
        base.to_owned()
    } else {
        word.to_owned()
    };
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}
