//! Decides whether two facts contradict or repeat each other.

use serde::{Deserialize, Serialize};

pub use crate::kinds::Related;
use crate::statements::{Difference, contradiction_about, details, is_paraphrase_about, normal_form, word_overlap};

// `bench conflicts` measures these thresholds.
/// The least similarity of two facts about the same thing that can contradict each other under different predicates.
const ABOUT_THE_SAME: f64 = 0.70;
/// The least similarity of a repeated statement whose predicates or subjects differ. Higher than for one key, because a
/// predicate can change what the same words say: "lives_in" and "born_in".
pub const NEAR_IDENTICAL: f64 = 0.90;
/// How much another name of the subject lowers the similarity of otherwise equal statements.
const OTHER_NAME: f64 = 0.25;
/// The least word overlap of a repeated statement whose predicates or subjects differ.
pub const NEAR_IDENTICAL_WORDS: f64 = 0.75;

/// Whether two facts cannot both be true, or say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Contradiction,
    Duplicate,
}

/// In what two facts differ, or where they repeat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictReason {
    Number,
    Date,
    Negation,
    Opposite,
    /// Two scopes hold different values of a predicate of one value.
    Scopes,
    /// Two subjects of one entity hold different values.
    Subjects,
    NearIdentical,
}

impl From<Difference> for ConflictReason {
    fn from(difference: Difference) -> Self {
        match difference {
            Difference::Number => Self::Number,
            Difference::Date => Self::Date,
            Difference::Negation => Self::Negation,
            Difference::Opposite => Self::Opposite,
        }
    }
}

/// A fact to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    pub subject: String,
    pub predicate: String,
    pub content: String,
}

impl Side {
    /// The statement with its predicate, which may say as much as the content: "likes: tea", "dislikes: tea".
    pub fn statement(&self) -> String {
        format!("{}: {}", self.predicate.replace(['_', '-'], " "), self.content)
    }
}

/// Whether two facts that hold at the same time are in conflict. `similarity` is the cosine similarity of their embeddings.
pub fn conflict(a: &Side, b: &Side, related: Related, similarity: Option<f64>) -> Option<(Kind, ConflictReason)> {
    let mut similarity = similarity.unwrap_or(0.0);
    // Each of two names of one entity may stand in the content of its fact.
    let renamed;
    let b = if related == Related::Subject {
        renamed = Side { content: b.content.replace(&b.subject, &a.subject), ..b.clone() };
        if normal_form(&a.subject) != normal_form(&renamed.subject) {
            similarity += OTHER_NAME;
        }
        &renamed
    } else {
        b
    };
    let same_content = || is_paraphrase_about(&a.subject, &a.content, &b.content, similarity);
    let differs = || {
        contradiction_about(&a.subject, &a.content, &b.content)
            .map(|difference| (Kind::Contradiction, difference.into()))
    };
    match related {
        // The same statement in two scopes is what scopes are for, and a statement may say more than the other.
        Related::Key if same_content() || one_says_more(a, b) => None,
        Related::Key => differs().or(Some((Kind::Contradiction, ConflictReason::Scopes))),
        Related::Subject if same_content() => Some((Kind::Duplicate, ConflictReason::NearIdentical)),
        Related::Subject if one_says_more(a, b) => None,
        Related::Subject => differs().or(Some((Kind::Contradiction, ConflictReason::Subjects))),
        Related::Near => near(a, b, similarity),
        Related::Other => {
            let same_predicate = normal_form(&a.predicate) == normal_form(&b.predicate);
            (same_predicate && repeats(a, b, similarity, NEAR_IDENTICAL, NEAR_IDENTICAL_WORDS))
                .then_some((Kind::Duplicate, ConflictReason::NearIdentical))
        }
    }
}

/// Two facts about the same thing, whose predicates may differ.
fn near(a: &Side, b: &Side, similarity: f64) -> Option<(Kind, ConflictReason)> {
    if normal_form(&a.predicate) == normal_form(&b.predicate) {
        // Values of one predicate that coexist.
        if is_paraphrase_about(&a.subject, &a.content, &b.content, similarity) {
            return Some((Kind::Duplicate, ConflictReason::NearIdentical));
        }
        return match contradiction_about(&a.subject, &a.content, &b.content)? {
            // "Has visited 3 times" and "has visited 4 times" of a list may both be true.
            Difference::Number | Difference::Date => None,
            difference => Some((Kind::Contradiction, difference.into())),
        };
    }
    if repeats(a, b, similarity, NEAR_IDENTICAL, NEAR_IDENTICAL_WORDS) {
        return Some((Kind::Duplicate, ConflictReason::NearIdentical));
    }
    let difference = (similarity >= ABOUT_THE_SAME)
        .then(|| contradiction_about(&a.subject, &a.statement(), &b.statement()))
        .flatten()?;
    Some((Kind::Contradiction, difference.into()))
}

/// Whether two facts of different keys say the same, with these least values of similarity and word overlap. The content
/// must be a sentence of its own: "Berlin" says something else as a home than as a place of birth.
pub fn repeats(a: &Side, b: &Side, similarity: f64, least_similarity: f64, least_words: f64) -> bool {
    let words = a.content.split_whitespace().count().min(b.content.split_whitespace().count());
    words > 2
        && similarity >= least_similarity
        && word_overlap(&a.content, &b.content) >= least_words
        && details(&a.statement()).agrees_with(&details(&b.statement()))
}

/// Whether one content only adds words to the other: "Berlin" and "Berlin, Germany".
fn one_says_more(a: &Side, b: &Side) -> bool {
    details(&a.content).says_more_than(&details(&b.content)) || details(&b.content).says_more_than(&details(&a.content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(predicate: &str, content: &str) -> Side {
        Side { subject: "Anna".to_owned(), predicate: predicate.to_owned(), content: content.to_owned() }
    }

    #[test]
    fn two_values_in_two_scopes_contradict_each_other() {
        let found = |a, b| conflict(&side("city", a), &side("city", b), Related::Key, Some(0.8));
        assert_eq!(found("Berlin", "Hamburg"), Some((Kind::Contradiction, ConflictReason::Scopes)));
        assert_eq!(found("Weighs 72 kg", "Weighs 75 kg"), Some((Kind::Contradiction, ConflictReason::Number)));
        assert_eq!(found("Lives in Berlin", "Anna lives in Berlin."), None);
        assert_eq!(found("Berlin", "Berlin, Germany"), None);
    }

    #[test]
    fn two_names_of_one_entity_are_no_difference() {
        let of = |subject: &str, content: &str| Side { subject: subject.to_owned(), ..side("employer", content) };
        let found = |a, b| conflict(&of("Anna", a), &of("Annie", b), Related::Subject, Some(0.65));
        let repeated = Some((Kind::Duplicate, ConflictReason::NearIdentical));
        assert_eq!(found("Anna works for Siemens", "Annie works for Siemens"), repeated);
        assert_eq!(found("Anna works for Siemens", "Her employer is Siemens"), repeated);
        let differs = Some((Kind::Contradiction, ConflictReason::Subjects));
        assert_eq!(found("Anna works for Siemens", "Annie works for Bosch"), differs);
    }

    #[test]
    fn a_predicate_is_part_of_the_statement() {
        let found = |p, a, q, b, similarity| conflict(&side(p, a), &side(q, b), Related::Near, Some(similarity));
        let likes = found("likes", "green tea", "dislikes", "green tea", 0.95);
        assert_eq!(likes, Some((Kind::Contradiction, ConflictReason::Opposite)));
        assert_eq!(found("lives_in", "Berlin", "born_in", "Berlin", 0.95), None);
        assert_eq!(found("weight", "72 kg", "bench_press", "75 kg", 0.8), None);
        let repeated = found("hobby", "Plays chess in a club", "leisure", "Plays chess at a club", 0.96);
        assert_eq!(repeated, Some((Kind::Duplicate, ConflictReason::NearIdentical)));
        assert_eq!(found("hobby", "Plays chess in a club", "leisure", "Plays chess at a club", 0.6), None);
    }

    #[test]
    fn values_of_a_list_conflict_only_if_they_deny_each_other() {
        let found = |a, b| conflict(&side("diet", a), &side("diet", b), Related::Near, Some(0.9));
        assert_eq!(found("Eats meat", "Does not eat meat"), Some((Kind::Contradiction, ConflictReason::Negation)));
        assert_eq!(found("Eats 2 eggs", "Eats 3 eggs"), None);
        assert_eq!(found("Eats cheese", "Eats fish"), None);
    }
}
