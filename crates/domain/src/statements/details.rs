//! The parts of a statement that a paraphrase must keep.

use std::collections::{BTreeMap, BTreeSet};

use super::numbers::{Quantity, numbers};
use super::tables::{ALTERNATIVES, COMMON_STARTS, NEGATIONS, OPPOSITES, QUALIFIERS, SINGLE_EVENTS, STOP_WORDS, UNITS};
use super::tokens::{Token, stem, tokens};

/// How many words after a negation it negates. More would take in "in Berlin" of "does not work on weekends in Berlin".
const NEGATED_WORDS: usize = 2;

/// The parts of a statement that a paraphrase must keep.
#[derive(Debug, Default)]
pub struct Details {
    pub numbers: Vec<Quantity>,
    /// Years, months, days, weekdays and times, such as `month 3`.
    pub dates: BTreeSet<String>,
    /// In the order of the statement. Words of scripts without capital letters all count, because any may be a name.
    pub names: Vec<String>,
    /// The words after each negation.
    negated: Vec<Vec<String>>,
    opposites: BTreeSet<(usize, bool)>,
    alternatives: BTreeMap<usize, BTreeSet<String>>,
    pub(super) qualifiers: BTreeSet<&'static str>,
    /// The words that carry meaning, without endings.
    pub(super) words: BTreeSet<String>,
    /// The same in the order of the statement.
    sequence: Vec<String>,
    /// Words of `words` that are part of a detail.
    detail_words: BTreeSet<String>,
    /// Every word, for finding a name that the other statement does not capitalise.
    all: BTreeSet<String>,
    /// Names that stand side by side or are joined by "and": their order says nothing.
    joined: bool,
    has_article: bool,
    is_single_event: bool,
}

/// Finds the parts of a statement that a paraphrase must keep.
pub fn details(text: &str) -> Details {
    let tokens = tokens(text);
    let numbers = numbers(&tokens);
    let mut found = Details {
        numbers: numbers.quantities,
        dates: numbers.dates,
        has_article: numbers.has_article,
        joined: names_are_joined(&tokens),
        ..Details::default()
    };
    for (at, token) in tokens.iter().enumerate() {
        found.all.insert(token.text.clone());
        if numbers.used[at] {
            if numbers.identifiers.contains(&token.text) {
                found.names.push(token.text.clone());
            } else if let Some(unit) = UNITS.get(&token.text) {
                found.words.insert((*unit).to_owned());
            }
            continue;
        }
        found.word(&tokens, at);
    }
    found
}

impl Details {
    fn word(&mut self, tokens: &[Token], at: usize) {
        let token = &tokens[at];
        self.is_single_event |= SINGLE_EVENTS.contains(&token.text);
        if is_negation(tokens, at) {
            self.negated.push(negated(tokens, at));
            return;
        }
        if let Some(class) = QUALIFIERS.get(&token.text) {
            self.qualifiers.insert(class);
        }
        let stem = stem(&token.text);
        self.all.insert(stem.clone());
        if is_name(tokens, at) {
            self.names.push(token.text.clone());
        }
        if let Some(sides) = OPPOSITES.get(&token.text) {
            self.opposites.extend(sides);
            self.detail_words.insert(stem.clone());
        }
        for list in ALTERNATIVES.get(&stem).into_iter().flatten() {
            self.alternatives.entry(*list).or_default().insert(stem.clone());
        }
        if !STOP_WORDS.contains(&token.text) {
            self.sequence.push(stem.clone());
            self.words.insert(stem);
        }
    }

    /// The details of a statement about `subject`, whose name it may leave out.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        let subject: BTreeSet<String> = tokens(subject).into_iter().map(|token| token.text).collect();
        self.names.retain(|name| !subject.contains(name));
        self.words.retain(|word| !subject.contains(word));
        self.sequence.retain(|word| !subject.contains(word));
        self
    }

    /// Whether one statement may be a paraphrase of the other.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.numbers_agree(other)
            && self.dates_agree(other)
            && self.names_agree(other)
            && self.negation_agrees(other)
            && self.opposites_agree(other)
            && self.alternatives_agree(other)
            && self.qualifiers == other.qualifiers
            && !self.names_another_thing(other)
    }

    /// Whether the statements are the same but for one word after the first: "Eats cheese" and "Eats fish". The first word
    /// is mostly a verb, which may have a synonym.
    fn names_another_thing(&self, other: &Self) -> bool {
        let differing: Vec<usize> = (self.sequence.iter().zip(&other.sequence).enumerate())
            .filter_map(|(place, (a, b))| (a != b).then_some(place))
            .collect();
        self.sequence.len() == other.sequence.len() && matches!(differing[..], [place] if place > 0)
    }

    /// Whether this statement has all the words and details of the other one, and more.
    pub fn says_more_than(&self, other: &Self) -> bool {
        self.is_negated() == other.is_negated()
            && self.words.len() > other.words.len()
            && other.words.is_subset(&self.words)
            && other.dates.is_subset(&self.dates)
            && other.numbers.iter().all(|number| self.numbers.iter().any(|twin| is_same_number(number, twin)))
    }

    pub(super) fn numbers_agree(&self, other: &Self) -> bool {
        let within = |a: &Self, b: &Self| {
            a.numbers.iter().all(|number| {
                (number.value == "1" && b.has_article) || b.numbers.iter().any(|twin| is_same_number(number, twin))
            })
        };
        let counts_else = self.numbers.iter().any(|a| {
            a.of.is_some()
                && other.numbers.iter().any(|b| b.of == a.of && b.value != a.value)
                && !other.numbers.iter().any(|b| b.of == a.of && b.value == a.value)
        });
        within(self, other) && within(other, self) && !counts_else
    }

    /// Whether two different numbers of the same kind stand at the same place of what the statements say.
    pub(super) fn numbers_comparable(&self, other: &Self) -> bool {
        // "Chapter 1 is about trees" and "Chapter 2 is about trees" are about two things.
        let is_label = |numbers: &[Quantity]| {
            numbers.iter().any(|number| number.place == 1 && number.unit.is_none() && number.of.is_none())
        };
        let units = |numbers: &[Quantity]| numbers.iter().map(|number| number.unit).collect::<Vec<_>>();
        !self.numbers.is_empty()
            && units(&self.numbers) == units(&other.numbers)
            && !(is_label(&self.numbers) && self.words.len() > 1 && is_label(&other.numbers))
    }

    pub(super) fn dates_agree(&self, other: &Self) -> bool {
        self.dates == other.dates
    }

    /// Whether the dates are of the same kind, and of something that happens once.
    pub(super) fn dates_comparable(&self, other: &Self) -> bool {
        let kinds = |dates: &BTreeSet<String>| -> Vec<String> {
            dates.iter().filter_map(|date| date.split_once(' ')).map(|(kind, _)| kind.to_owned()).collect()
        };
        !self.dates.is_empty()
            && kinds(&self.dates) == kinds(&other.dates)
            && self.is_single_event
            && other.is_single_event
    }

    pub(super) fn names_agree(&self, other: &Self) -> bool {
        let within =
            |a: &Self, b: &Self| a.names.iter().all(|name| b.all.contains(name) || b.all.contains(&stem(name)));
        let order = |a: &Self, b: &Self| -> Vec<String> {
            a.names.iter().filter(|name| b.names.contains(name)).cloned().collect()
        };
        within(self, other)
            && within(other, self)
            // "Anna manages Bob" is not "Bob manages Anna".
            && (order(self, other) == order(other, self) || (self.joined && other.joined))
    }

    pub(super) fn is_negated(&self) -> bool {
        !self.negated.is_empty()
    }

    pub(super) fn negation_agrees(&self, other: &Self) -> bool {
        let same_words = |a: &Self, b: &Self| {
            a.negated
                .iter()
                .flatten()
                .all(|word| !b.words.contains(word) || b.negated.iter().flatten().any(|n| n == word))
        };
        self.is_negated() == other.is_negated() && same_words(self, other) && same_words(other, self)
    }

    pub(super) fn opposites_agree(&self, other: &Self) -> bool {
        let opposed = self.opposites.iter().any(|(pair, side)| {
            other.opposites.contains(&(*pair, !side))
                && !self.opposites.contains(&(*pair, !side))
                && !other.opposites.contains(&(*pair, *side))
        });
        !opposed && prefixed(&self.words, &other.words).is_none() && prefixed(&other.words, &self.words).is_none()
    }

    pub(super) fn alternatives_agree(&self, other: &Self) -> bool {
        self.alternatives.iter().all(|(list, words)| other.alternatives.get(list).is_none_or(|others| others == words))
    }

    /// The words without those that differ because they are opposites.
    pub(super) fn rest(&self, other: &Self) -> BTreeSet<String> {
        let opposed = |word: &String| self.detail_words.contains(word) && !other.words.contains(word);
        let prefix = [prefixed(&self.words, &other.words), prefixed(&other.words, &self.words)];
        self.words
            .iter()
            .filter(|word| !opposed(word))
            .filter(|word| !prefix.iter().flatten().any(|(long, short)| word == &long || word == &short))
            .cloned()
            .collect()
    }
}

/// A word of `words` that negates a word of `others` by a prefix, with that word: "unhappy" and "happy".
fn prefixed(words: &BTreeSet<String>, others: &BTreeSet<String>) -> Option<(String, String)> {
    words.iter().find_map(|word| {
        let short = ["un", "in", "im", "dis", "non"]
            .iter()
            .filter_map(|prefix| word.strip_prefix(prefix))
            .find(|short| short.len() > 3 && others.contains(*short) && !words.contains(*short))?;
        (!others.contains(word)).then(|| (word.clone(), short.to_owned()))
    })
}

fn is_same_number(a: &Quantity, b: &Quantity) -> bool {
    a.value == b.value && (a.unit == b.unit || a.unit.is_none() || b.unit.is_none())
}

fn is_negation(tokens: &[Token], at: usize) -> bool {
    let word = tokens[at].text.as_str();
    let next = tokens.get(at + 1).map(|token| token.text.as_str());
    NEGATIONS.contains(word) || word.ends_with("n't") || (word == "used" && next == Some("to"))
}

/// The words that the negation at this place negates: those after it in its clause or, if it stands at the end as in
/// German, those before it.
fn negated(tokens: &[Token], at: usize) -> Vec<String> {
    const BREAKS: [&str; 10] = ["but", "and", "aber", "sondern", "und", "mais", "et", "pero", "sino", "y"];
    let in_clause = |token: &&Token| token.clause == tokens[at].clause && !BREAKS.contains(&token.text.as_str());
    let means = |token: &&Token| {
        // "no longer" negates what follows.
        let fills = matches!(token.text.as_str(), "longer" | "any" | "more" | "anymore" | "ever" | "yet" | "mehr");
        !fills && !STOP_WORDS.contains(&token.text) && !NEGATIONS.contains(&token.text)
    };
    let after: Vec<String> = tokens[at + 1..]
        .iter()
        .take_while(in_clause)
        .filter(means)
        .take(NEGATED_WORDS)
        .map(|token| stem(&token.text))
        .collect();
    if !after.is_empty() {
        return after;
    }
    tokens[..at]
        .iter()
        .rev()
        .take_while(in_clause)
        .filter(means)
        .take(NEGATED_WORDS)
        .map(|token| stem(&token.text))
        .collect()
}

fn is_name(tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    if token.text.chars().any(|c| c.is_alphabetic() && !c.is_lowercase()) {
        return true; // a script without case
    }
    if STOP_WORDS.contains(&token.text) && !token.inner_capital {
        return false;
    }
    token.inner_capital || (token.capital && (!token.starts_sentence || starts_with_name(tokens, at)))
}

/// Whether a sentence starts with a name. "Lives in Berlin" starts with a verb, "Thomas likes tea" does not.
fn starts_with_name(tokens: &[Token], at: usize) -> bool {
    let word = tokens[at].text.as_str();
    if COMMON_STARTS.contains(word)
        || COMMON_STARTS.contains(&stem(word))
        || NEGATIONS.contains(word)
        || OPPOSITES.contains_key(word)
        || QUALIFIERS.contains_key(word)
        || ALTERNATIVES.contains_key(&stem(word))
        || SINGLE_EVENTS.contains(word)
    {
        return false;
    }
    let looks_like_verb = ["s", "ed", "ing", "ly", "ally"].iter().any(|ending| word.ends_with(ending));
    let verb_follows = tokens.get(at + 1).is_some_and(|next| {
        let next = next.text.as_str();
        matches!(
            next,
            "is" | "was"
                | "has"
                | "had"
                | "and"
                | "will"
                | "can"
                | "does"
                | "did"
                | "ist"
                | "hat"
                | "mag"
                | "est"
                | "es"
        ) || (next.len() > 3 && next.ends_with('s') && !next.ends_with("ss"))
    });
    verb_follows || !looks_like_verb
}

/// Whether the first two names stand side by side, or are joined by "and".
fn names_are_joined(tokens: &[Token]) -> bool {
    let places: Vec<usize> = (0..tokens.len()).filter(|at| is_name(tokens, *at)).collect();
    places.windows(2).all(|pair| {
        let between = &tokens[pair[0] + 1..pair[1]];
        between
            .iter()
            .all(|token| matches!(token.text.as_str(), "and" | "or" | "und" | "oder" | "et" | "ou" | "y" | "o"))
    })
}
