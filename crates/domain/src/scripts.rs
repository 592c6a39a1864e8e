//! Scripts that put no spaces between words: Chinese, Japanese, Thai, Lao, Khmer and Burmese.
//!
//! PostgreSQL's parser takes a whole sentence of such a script for one word, which no query contains. So the text of a
//! search vector, and the query, hold each two neighbouring characters as a word.

use std::borrow::Cow;

/// Characters that start a syllable or stand alone. `functions/script_pairs.sql` has the same ranges.
const LETTERS: [(char, char); 30] = [
    // Han
    ('\u{3005}', '\u{3007}'),
    ('\u{3400}', '\u{9fff}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{20000}', '\u{3ffff}'),
    // Kana, without its middle dots
    ('\u{3041}', '\u{3096}'),
    ('\u{309d}', '\u{309f}'),
    ('\u{30a1}', '\u{30fa}'),
    ('\u{30fc}', '\u{30ff}'),
    ('\u{ff66}', '\u{ff9d}'),
    // Thai and Lao, without digits and punctuation
    ('\u{0e01}', '\u{0e30}'),
    ('\u{0e32}', '\u{0e33}'),
    ('\u{0e40}', '\u{0e46}'),
    ('\u{0e81}', '\u{0eb0}'),
    ('\u{0eb2}', '\u{0eb3}'),
    ('\u{0ebd}', '\u{0ebd}'),
    ('\u{0ec0}', '\u{0ec6}'),
    ('\u{0edc}', '\u{0edf}'),
    // Burmese and its extensions
    ('\u{1000}', '\u{102a}'),
    ('\u{103f}', '\u{103f}'),
    ('\u{1050}', '\u{1055}'),
    ('\u{105a}', '\u{105d}'),
    ('\u{1061}', '\u{1061}'),
    ('\u{1065}', '\u{1066}'),
    ('\u{106e}', '\u{1070}'),
    ('\u{1075}', '\u{1081}'),
    ('\u{108e}', '\u{108e}'),
    ('\u{aa60}', '\u{aa76}'),
    // Khmer
    ('\u{1780}', '\u{17b3}'),
    ('\u{17d7}', '\u{17d7}'),
    ('\u{17dc}', '\u{17dc}'),
];

/// Vowel signs, tone marks and voicing marks. They belong to the letter before them.
const MARKS: [(char, char); 18] = [
    ('\u{0e31}', '\u{0e31}'),
    ('\u{0e34}', '\u{0e3a}'),
    ('\u{0e47}', '\u{0e4e}'),
    ('\u{0eb1}', '\u{0eb1}'),
    ('\u{0eb4}', '\u{0ebc}'),
    ('\u{0ec8}', '\u{0ece}'),
    ('\u{102b}', '\u{103e}'),
    ('\u{1056}', '\u{1059}'),
    ('\u{105e}', '\u{1060}'),
    ('\u{1062}', '\u{1064}'),
    ('\u{1067}', '\u{106d}'),
    ('\u{1071}', '\u{1074}'),
    ('\u{1082}', '\u{108d}'),
    ('\u{108f}', '\u{108f}'),
    ('\u{17b4}', '\u{17d3}'),
    ('\u{17dd}', '\u{17dd}'),
    ('\u{3099}', '\u{309a}'),
    ('\u{ff9e}', '\u{ff9f}'),
];

/// The first character of any of these scripts. What comes before it, such as all of Latin and Cyrillic, needs no look at
/// the ranges.
const FIRST: char = '\u{0e01}';

/// Replaces each run of these scripts by its overlapping pairs of characters, and separates pairs and other text by spaces:
/// `東京都へGo` becomes `東京 京都 都へ Go`. A run of one or two characters stays, so pairing the result again does not change
/// it.
pub fn pair_characters(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_letter) {
        return Cow::Borrowed(text);
    }
    let mut paired = String::with_capacity(2 * text.len());
    let mut rest = text.char_indices().peekable();
    let mut before = Before::Space;
    while let Some((start, c)) = rest.next() {
        if !is_letter(c) && !is_mark(c) {
            if before == Before::Run && !c.is_whitespace() {
                paired.push(' ');
            }
            paired.push(c);
            before = if c.is_whitespace() { Before::Space } else { Before::Other };
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some((at, mark)) = rest.next_if(|(_, next)| is_mark(*next)) {
            end = at + mark.len_utf8();
        }
        let syllable = &text[start..end];
        if before == Before::Other {
            paired.push(' ');
        }
        paired.push_str(syllable);
        // A character in the middle of a run ends one pair and starts the next.
        if before == Before::Run && rest.peek().is_some_and(|(_, next)| is_letter(*next)) {
            paired.push(' ');
            paired.push_str(syllable);
        }
        before = Before::Run;
    }
    Cow::Owned(paired)
}

/// What the character before belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Space,
    Run,
    Other,
}

pub(crate) fn is_letter(c: char) -> bool {
    c >= FIRST && within(&LETTERS, c)
}

fn is_mark(c: char) -> bool {
    c >= FIRST && within(&MARKS, c)
}

fn within(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_run_becomes_its_overlapping_pairs() {
        assert_eq!(pair_characters("東京都"), "東京 京都");
        assert_eq!(pair_characters("コーヒー、好き"), "コー ーヒ ヒー 、 好き");
        assert_eq!(pair_characters("猫"), "猫");
        assert_eq!(pair_characters("猫だ"), "猫だ");
        assert_eq!(pair_characters("𠮷野家"), "𠮷野 野家");
    }

    #[test]
    fn vowel_signs_and_tone_marks_stay_with_their_letter() {
        assert_eq!(pair_characters("น้ำส้ม"), "น้ำ ำส้ ส้ม");
        assert_eq!(pair_characters("ជំរាប"), "ជំរា រាប");
    }

    #[test]
    fn words_of_other_scripts_stay() {
        assert_eq!(pair_characters("我用Rust写代码"), "我用 Rust 写代 代码");
        assert_eq!(pair_characters("3月15日"), "3 月 15 日");
        for text in ["", "Zoë likes Äpfel", "Привет, мир", "한국어 문장", "हिन्दी"] {
            assert!(matches!(pair_characters(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn pairing_again_changes_nothing(text in "([\\PC]|[一-三あ-うア-ウก-ูກ-ູက-းក-ៈ a]){0,40}") {
            let once = pair_characters(&text).into_owned();
            prop_assert_eq!(pair_characters(&once), once.as_str());
        }

        #[test]
        fn no_character_is_lost(text in "[一-三ก-ู ab、]{0,40}") {
            let kept: String = text.chars().filter(|c| *c != ' ').collect();
            let paired = pair_characters(&text);
            let mut left = kept.chars().peekable();
            for c in paired.chars() {
                left.next_if_eq(&c);
            }
            prop_assert!(left.peek().is_none(), "{:?} from {:?}", paired, text);
        }
    }
}
