//! The generated pairs of statements.

use butler_domain::conflicts::Side;

use super::topics::{SAME_WORDS, TOPICS, Topic, Truth};

/// Who the statements are about.
pub const SUBJECT: &str = "Anna";
/// Another name of hers.
pub const NICKNAME: &str = "Annie";

/// Under which predicate and subject the second statement of a pair is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    SameKey,
    OtherPredicate,
    OtherSubject,
}

#[derive(Debug, Clone)]
pub struct Pair {
    pub topic: usize,
    pub predicate: &'static str,
    /// The predicates of the second statement: the one of its topic, and the other one.
    second: [&'static str; 2],
    /// Whether two values of the predicate may be true at a time.
    pub holds_several: bool,
    pub a: String,
    pub b: String,
    pub truth: Truth,
    pub stored: Stored,
}

impl Pair {
    /// The two facts. The second one names its own subject.
    pub fn sides(&self) -> [Side; 2] {
        let side = |subject: &str, predicate: &str, content: &str| Side {
            subject: subject.to_owned(),
            predicate: predicate.to_owned(),
            content: content.to_owned(),
        };
        let b = match self.stored {
            Stored::SameKey => side(SUBJECT, self.predicate, &self.b),
            Stored::OtherPredicate => side(SUBJECT, self.second[1], &self.b),
            Stored::OtherSubject => side(NICKNAME, self.second[0], &self.b.replace(SUBJECT, NICKNAME)),
        };
        [side(SUBJECT, self.predicate, &self.a), b]
    }
}

/// All pairs, always the same. Every second one has another predicate or another subject.
pub fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (number, topic) in TOPICS.iter().enumerate() {
        let mut push = |a: String, b: String, of_b: &Topic, truth: Truth| {
            let stored = match pairs.len() % 4 {
                1 => Stored::OtherPredicate,
                3 => Stored::OtherSubject,
                _ => Stored::SameKey,
            };
            pairs.push(Pair {
                topic: number,
                predicate: topic.predicates[0],
                second: of_b.predicates,
                holds_several: topic.other == Truth::Unrelated,
                a,
                b,
                truth,
                stored,
            });
        };
        let way = |place: usize, value: usize| {
            topic.ways[place % topic.ways.len()].replace("{}", topic.values[value % topic.values.len()])
        };
        for place in 0..4 {
            push(way(place, place), way(place + 1, place), topic, Truth::Paraphrase);
        }
        for place in 0..2 {
            push(way(place, place), way(place, place + 1), topic, topic.other);
            push(way(place, place + 2), way(place + 1, place + 3), topic, topic.other);
        }
        for (place, denial) in topic.denials.iter().enumerate() {
            push(way(place, place), denial.replace("{}", topic.values[place]), topic, Truth::Contradiction);
        }
        let denied = |place: usize| topic.denials[place].replace("{}", topic.values[0]);
        if topic.denials.len() > 1 {
            push(denied(0), denied(1), topic, Truth::Paraphrase);
        }
        let next = &TOPICS[(number + 3) % TOPICS.len()];
        for place in 0..2 {
            push(way(place, place), next.ways[place].replace("{}", next.values[place]), next, Truth::Unrelated);
        }
    }
    pairs
}

/// Pairs of the same words whose predicates make them say different things.
pub fn pairs_of_same_words() -> impl Iterator<Item = Pair> {
    SAME_WORDS.iter().enumerate().map(|(place, &([first, second], content))| Pair {
        topic: TOPICS.len() + place,
        predicate: first,
        second: [second, second],
        holds_several: true,
        a: content.to_owned(),
        b: content.to_owned(),
        truth: Truth::Unrelated,
        stored: Stored::OtherPredicate,
    })
}

/// One value of a topic, in all the ways to state it and to deny it.
pub struct Statement {
    pub predicate: &'static str,
    pub ways: Vec<String>,
    pub denials: Vec<String>,
}

/// All values of all topics.
pub fn statements() -> Vec<Statement> {
    let of =
        |texts: &[&str], value: &str| -> Vec<String> { texts.iter().map(|text| text.replace("{}", value)).collect() };
    TOPICS
        .iter()
        .flat_map(|topic| topic.values.iter().map(move |value| (topic, value)))
        .map(|(topic, value)| Statement {
            predicate: topic.predicates[0],
            ways: of(topic.ways, value),
            denials: of(topic.denials, value),
        })
        .collect()
}
