//! The words that change what a statement says, in English, German, French and Spanish. They are data: `data/*.txt`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::tokens::{fold, stem};

pub(super) static NEGATIONS: LazyLock<HashSet<String>> = LazyLock::new(|| words(include_str!("data/negations.txt")));
pub(super) static STOP_WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| words(include_str!("data/stop_words.txt")));
/// Words that start a sentence with a capital letter and are no names.
pub(super) static COMMON_STARTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| with_stems(words(include_str!("data/common_starts.txt"))));
/// Words of what happens once, so that two dates of it contradict each other.
pub(super) static SINGLE_EVENTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| words(include_str!("data/single_events.txt")));
/// Each word with the pairs of opposites it is in: the line, and the side.
pub(super) static OPPOSITES: LazyLock<HashMap<String, Vec<(usize, bool)>>> = LazyLock::new(opposites);
/// Each word with the lists it is in. Of the words of one list, a statement means one.
pub(super) static ALTERNATIVES: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(alternatives);
/// Words that weaken or restrict a statement, with their class.
pub(super) static QUALIFIERS: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| named(include_str!("data/qualifiers.txt")));
/// Months, weekdays and days relative to now.
pub(super) static DATES: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| named(include_str!("data/dates.txt")));
pub(super) static UNITS: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| named(include_str!("data/units.txt")));
pub(super) static NUMBERS: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| named(include_str!("data/numbers.txt")));

fn words(data: &str) -> HashSet<String> {
    data.split_whitespace().map(fold).collect()
}

/// The words and their stems, so that "Uses" is found by "use".
fn with_stems(words: HashSet<String>) -> HashSet<String> {
    words.iter().map(|word| stem(word)).chain(words.iter().cloned()).collect()
}

/// Lines of `name: words`.
fn named(data: &'static str) -> HashMap<String, &'static str> {
    data.lines()
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(name, words)| words.split_whitespace().map(move |word| (fold(word), name)))
        .collect()
}

fn opposites() -> HashMap<String, Vec<(usize, bool)>> {
    let mut found: HashMap<String, Vec<(usize, bool)>> = HashMap::new();
    for (line, pair) in include_str!("data/opposites.txt").lines().enumerate() {
        for (side, words) in pair.split('|').enumerate() {
            for word in words.split_whitespace() {
                found.entry(fold(word)).or_default().push((line, side == 1));
            }
        }
    }
    found
}

fn alternatives() -> HashMap<String, Vec<usize>> {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    for (line, words) in include_str!("data/alternatives.txt").lines().enumerate() {
        for word in words.split_whitespace() {
            let lists = found.entry(stem(&fold(word))).or_default();
            if !lists.contains(&line) {
                lists.push(line);
            }
        }
    }
    found
}
