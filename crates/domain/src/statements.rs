//! Compares what two statements say, by their words and without an LLM.
//!
//! Vectors find statements that are worded alike, but "weighs 72 kg" and "weighs 75 kg" are nearly the same vector. So
//! the parts of a statement that a paraphrase must keep are compared as such: numbers, dates, names, negation, opposites,
//! words of which a statement means one ("tea", "coffee"), and words that weaken it. In doubt, two statements are not the
//! same, and do not contradict each other. What needs knowledge of the world is out of reach: "does not eat meat" and
//! "favourite dish is steak" are not recognised as a contradiction.

mod details;
mod numbers;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::text::single_spaced;
pub use details::{Details, details};
pub use numbers::Quantity;

/// The least cosine similarity of a paraphrase with the same details. `bench conflicts` measures it.
pub const PARAPHRASE: f64 = 0.85;

/// The least overlap of the other words of two statements that contradict each other.
const AGREEING: f64 = 0.75;

/// In what two statements about the same thing contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    Number,
    Date,
    Negation,
    Opposite,
}

/// A statement without the differences that never change what it says: case, white space, Unicode composition, and full
/// stops and exclamation marks at its ends. The SQL function `content_key` hashes the same form.
pub fn normal_form(text: &str) -> String {
    let composed: String = text.nfc().collect();
    single_spaced(&composed).trim_matches([' ', '.', '!']).to_lowercase()
}

/// Whether one statement about `subject` only rewords the other. One may name the subject and the other leave it out.
/// `similarity` is the cosine similarity of their embeddings.
pub fn is_paraphrase_about(subject: &str, a: &str, b: &str, similarity: f64) -> bool {
    normal_form(a) == normal_form(b)
        || (similarity >= PARAPHRASE && details(a).about(subject).agrees_with(&details(b).about(subject)))
}

/// In what two statements about `subject` contradict each other, if nothing else about them differs much. One may name
/// the subject and the other leave it out.
pub fn contradiction_about(subject: &str, a: &str, b: &str) -> Option<Difference> {
    let (a, b) = (details(a).about(subject), details(b).about(subject));
    if !(a.names_agree(&b) && a.qualifiers == b.qualifiers && a.alternatives_agree(&b)) {
        return None;
    }
    let mut differences = [
        (!a.numbers_agree(&b), Difference::Number),
        (!a.dates_agree(&b), Difference::Date),
        (!a.negation_agrees(&b), Difference::Negation),
        (!a.opposites_agree(&b), Difference::Opposite),
    ]
    .into_iter()
    .filter_map(|(differs, difference)| differs.then_some(difference));
    // Two differences may cancel each other out, as in "likes" and "does not dislike", or make it another event.
    let difference = differences.next().filter(|_| differences.next().is_none())?;
    let comparable = match difference {
        Difference::Number => a.numbers_comparable(&b),
        Difference::Date => a.dates_comparable(&b),
        Difference::Negation => a.is_negated() != b.is_negated(),
        Difference::Opposite => true,
    };
    (comparable && overlap(&a.rest(&b), &b.rest(&a)) >= AGREEING).then_some(difference)
}

/// How many of the words of two statements are the same, from 0 to 1. Articles, pronouns and endings do not count.
pub fn word_overlap(a: &str, b: &str) -> f64 {
    overlap(&details(a).words, &details(b).words)
}

#[expect(clippy::cast_precision_loss, reason = "a statement has fewer words than a double has integers")]
fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    match a.len() + b.len() {
        0 => 1.0,
        all => 2.0 * a.intersection(b).count() as f64 / all as f64,
    }
}
