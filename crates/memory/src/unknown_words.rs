//! Which words of a query may be misspelled.

use crate::Memory;

/// A query with more unknown words is not misspelled but in another language. `functions/near_words.sql` corrects as many.
const MOST_WORDS: usize = 8;
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
}

fn unknown_words(query: &str, is_known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut unknown: Vec<String> = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric()) {
        let length = word.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) || !word.chars().all(is_letter) {
            continue;
        }
        let word = word.to_lowercase();
        if !unknown.contains(&word) && !is_known(&word) {
            if unknown.len() == MOST_WORDS {
                return Vec::new();
            }
            unknown.push(word);
        }
    }
    unknown
}

/// A letter of an alphabet, as in `functions/note_words.sql`. Other scripts are found by pairs of characters.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && (c < '\u{0e00}' || ('\u{1e00}'..='\u{1fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::unknown_words;

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
    fn a_query_in_another_language_is_left_as_it_is() {
        let query = "einer langen Frage über lauter unbekannte Wörter folgt keine einzige Verbesserung";
        assert!(unknown_words(query, is_english).is_empty());
    }
}
