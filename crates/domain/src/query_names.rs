//! The entity names that a query may contain.

use std::collections::BTreeSet;

use crate::scripts::is_letter;

/// A longer query is a text rather than a question.
const MOST_WORDS: usize = 64;
/// In scripts without spaces, names are looked for in this many characters.
const MOST_CHARACTERS: usize = 128;
/// The most words, or characters of a script without spaces, of a name.
const LONGEST: usize = 6;

const OPENING: &[char] = &['"', '\'', '(', '„', '“', '‘', '«', '¿', '¡', '['];
const CLOSING: &[char] = &['"', '\'', ')', '”', '’', '»', '.', ',', ';', ':', '!', '?', '…', ']'];
const GENITIVES: [&str; 4] = ["'s", "’s", "'S", "’S"];

/// What may be a name in the query: each sequence of one to six words, as typed ("yahoo!"), without the punctuation of a
/// sentence ("c++", "mcdonald's"), without a genitive ("c++'s"), and without any punctuation around it. In scripts without
/// spaces, also each sequence of two to six characters. The database folds the case as it does in the names it stores.
pub fn query_names(query: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let words: Vec<&str> = query.split_whitespace().take(MOST_WORDS).collect();
    for start in 0..words.len() {
        for end in start + 1..=words.len().min(start + LONGEST) {
            let typed = words[start..end].join(" ");
            let bare = typed.trim_start_matches(OPENING).trim_end_matches(CLOSING);
            names.insert(bare.to_owned());
            names.insert(without_genitive(bare).to_owned());
            let inner = typed.trim_matches(|c: char| !c.is_alphanumeric());
            names.insert(without_genitive(inner).to_owned());
            names.insert(typed);
        }
    }
    if query.chars().any(is_letter) {
        let characters: Vec<char> = query.chars().take(MOST_CHARACTERS).collect();
        for size in 2..=LONGEST {
            names.extend(characters.windows(size).map(|part| part.iter().collect::<String>()));
        }
    }
    names.remove("");
    names
}

fn without_genitive(name: &str) -> &str {
    GENITIVES.iter().find_map(|genitive| name.strip_suffix(genitive)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::query_names;

    fn names(query: &str, expected: &[&str]) {
        let names = query_names(query);
        for name in expected {
            assert!(names.contains(*name), "{name:?} is not in {names:?}");
        }
    }

    #[test]
    fn sequences_of_up_to_six_words_are_names() {
        let all = query_names("Is the Society for the Protection of Birds near me");
        assert!(all.contains("Society for the Protection of Birds") && all.contains("Birds") && all.contains("me"));
        assert!(!all.contains("the Society for the Protection of Birds"), "seven words");
        assert!(query_names(" \n ").is_empty());
        assert!(query_names(&"word ".repeat(1000)).len() <= 6);
    }

    #[test]
    fn punctuation_and_genitives_are_kept_and_removed() {
        names("Is Yahoo! older than (C++), or not?", &["Yahoo!", "Yahoo", "C++", "C"]);
        names("Where is C++'s home?", &["C++'s", "C++", "home"]);
        names("McDonald's, „Anna’s“", &["McDonald's", "McDonald", "Anna"]);
        names("¿Y «Ana María»?", &["Ana María", "Y"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_short_sequences() {
        names("田中さんはどこ", &["田中", "中さん", "さんはど", "田中さんはど"]);
        assert!(!query_names("Tanaka").contains("Ta"));
    }
}
