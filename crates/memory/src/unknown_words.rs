//! Which words of a query may be misspelled or lack accents.

use crate::Memory;

/// A query with more unknown words is not misspelled but in another language. `functions/near_words.sql` corrects as many.
const MOST_WORDS: usize = 8;
/// The database looks up each of these words. A longer query is a text, which its first words describe well enough.
const MOST_PLAIN: usize = 16;
/// A shorter word has too many neighbours to be corrected.
const SHORTEST: usize = 4;
/// No word of the vocabulary (`functions/note_words.sql`) is longer.
const LONGEST: usize = 40;

impl Memory {
    /// The words of a query that the model's vocabulary does not contain, in lower case, each once: names, rare words and
    /// misspelled ones. The database corrects those that no memory contains.
    pub fn unknown_words(&self, query: &str) -> Vec<String> {
        unknown_words(query, |word| self.embedder().is_known_word(word))
    }

    /// The words of a query that the model's vocabulary contains and that have no accents, in lower case, each once. They are
    /// not misspelled, but the memories may contain them with accents: "resume" and "résumé".
    pub fn plain_words(&self, query: &str) -> Vec<String> {
        plain_words(query, |word| self.embedder().is_known_word(word))
    }
}

fn unknown_words(query: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for word in words(query) {
        if !unknown.contains(&word) && !is_known(&word) {
            if unknown.len() == MOST_WORDS {
                return Vec::new();
            }
            unknown.push(word);
        }
    }
    unknown
}

fn plain_words(query: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut plain: Vec<String> = Vec::new();
    for word in words(query).filter(|word| word.is_ascii()) {
        if plain.len() == MOST_PLAIN {
            break;
        }
        if !plain.contains(&word) && is_known(&word) {
            plain.push(word);
        }
    }
    plain
}

/// The words of a query that a vocabulary can contain, in lower case.
fn words(query: &str) -> impl Iterator<Item = String> {
    query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| (SHORTEST..=LONGEST).contains(&word.chars().count()) && word.chars().all(is_letter))
        .map(str::to_lowercase)
}

/// A letter of an alphabet, as in `functions/note_words.sql`. Other scripts are found by pairs of characters.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && (c < '\u{0e00}' || ('\u{1e00}'..='\u{1fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::{MOST_PLAIN, plain_words, unknown_words};

    fn is_english(word: &str) -> bool {
        ["what", "does", "like", "about", "cafe"].contains(&word)
    }

    #[test]
    fn words_that_the_model_knows_and_short_ones_are_left_out() {
        assert!(unknown_words("What does Ann like about 2024?", is_english).is_empty());
        assert_eq!(unknown_words("What does Gronning like?", is_english), ["gronning"]);
        assert_eq!(unknown_words("typsecript, Typsecript, Café", is_english), ["typsecript", "café"]);
    }

    #[test]
    fn numbers_and_scripts_without_words_are_left_out() {
        assert!(unknown_words("v2beta 12345 東京都庁舎 ภาษาไทย", is_english).is_empty());
        assert_eq!(unknown_words("привет ǻccent", is_english), ["привет", "ǻccent"]);
    }

    #[test]
    fn known_words_without_accents_are_plain() {
        assert_eq!(
            plain_words("What does Grønning like about the Cafe, cafe?", is_english),
            ["what", "does", "like", "about", "cafe"]
        );
        assert!(
            plain_words("Gronning 2024 café the 東京都庁舎", |word| is_english(word) || !word.is_ascii()).is_empty()
        );
        let long: String = ('a'..='z').map(|c| format!("word{c} ")).collect();
        assert_eq!(plain_words(&long, |_| true).len(), MOST_PLAIN);
    }

    #[test]
    fn a_query_in_another_language_is_left_as_it_is() {
        let query = "einer langen Frage über lauter unbekannte Wörter folgt keine einzige Verbesserung";
        assert!(unknown_words(query, is_english).is_empty());
    }
}
