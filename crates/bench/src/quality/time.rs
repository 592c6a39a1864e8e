//! Time: people whose homes, jobs and cars change. Each question names a time in words, and one statement was true then.
//!
//! The same questions without the words of time show what understanding them is worth.

use butler_domain::Timestamp;
use chrono::{DateTime, Datelike, Months, TimeZone, Utc};

use super::fill::{Item, Memories};
use super::scores::{Scores, hit_at};
use super::{Bench, filler, show_progress};
use crate::facts::Dice;

const PEOPLE: usize = 60;
const VERSIONS: usize = 6;
/// Undated facts about other people.
const OTHERS: usize = 500;
const FIRST_YEAR: i32 = 2010;

/// Predicate, statement and question.
const KEYS: [(&str, &str, &str, &[&str]); 4] = [
    (
        "home",
        "lives in {}",
        "Where did {} live",
        &["Kiel", "Rostock", "Graz", "Basel", "Turin", "Lyon", "Porto", "Gdansk", "Bergen", "Ghent", "Malmö", "Zagreb"],
    ),
    (
        "employer",
        "works for {}",
        "Which company did {} work for",
        &["Baltic Freight", "Sonnen AG", "Delta Bank", "Nordlicht", "the city hall", "Kranich Air", "Halden Steel"],
    ),
    (
        "car",
        "drives a {}",
        "Which car did {} drive",
        &["Volvo", "Fiat", "Skoda", "Peugeot", "Toyota", "Renault", "Mazda", "Saab", "Opel"],
    ),
    (
        "hobby",
        "spends the weekends {}",
        "What did {} do at weekends",
        &["climbing", "sailing", "painting", "fishing", "singing in a choir", "playing chess", "gardening"],
    ),
];

struct TimeQuestion {
    question: String,
    /// The words of time, which the control leaves out.
    words: String,
    answer: usize,
}

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let (memories, questions) = lives(bench.world.memory.now());
    let stored = bench.fill("time", &memories).await?;
    let mut scores = Scores::new("words of time");
    for (number, TimeQuestion { question, words, answer }) in questions.iter().take(bench.limit_questions).enumerate() {
        show_progress(number);
        for (suffix, text) in [("", format!("{question} {words}?")), (" without them", format!("{question}?"))] {
            for (method, found) in bench.ask_facts(&stored, &text).await? {
                for (measure, depth) in [("hit@1", 1), ("hit@5", 5)] {
                    scores.add(&format!("{method}{suffix}"), measure, hit_at(&found, *answer, depth));
                }
            }
        }
    }
    scores.report(&mut bench.report, |method, measure| {
        (measure == "hit@5" && matches!(method, "hybrid" | "recall")).then_some(0.9)
    });
    Ok(())
}

/// The memories, and one question about each life in each of its keys.
fn lives(now: Timestamp) -> (Memories, Vec<TimeQuestion>) {
    let mut dice = Dice::new(21);
    let mut memories = Memories::default();
    let mut questions = Vec::new();
    let names = filler::people(PEOPLE, &mut dice);
    for (number, name) in names.iter().enumerate() {
        for (predicate, statement, question, values) in KEYS {
            let first = memories.items.len();
            let mut order: Vec<&str> = values.to_vec();
            dice.shuffle(&mut order);
            let mut start = first_of(FIRST_YEAR, 1 + dice.below(12) as u32);
            for value in order.iter().take(VERSIONS) {
                let end = start + Months::new(26 + dice.below(20) as u32);
                memories.times.insert(memories.items.len(), start..end);
                memories.items.push(Item::fact(name, predicate, &statement.replace("{}", value)));
                start = end;
            }
            let answer = first + dice.below(VERSIONS - 2);
            let held = &memories.times[&answer];
            let words = words_of_time(held.start, held.end, number, now);
            questions.push(TimeQuestion { question: question.replace("{}", name), words, answer });
        }
    }
    filler::add(&mut memories, OTHERS, false);
    (memories, questions)
}

fn first_of(year: i32, month: u32) -> Timestamp {
    Utc.with_ymd_and_hms(year, month, 1, 0, 0, 0).single().expect("the first of a month exists")
}

/// Words for a time that lies within these two, which are at least 26 months apart.
fn words_of_time(start: Timestamp, end: Timestamp, form: usize, now: Timestamp) -> String {
    let middle: DateTime<Utc> = start + (end - start) / 2;
    let years_ago = (now - middle).num_days() / 365;
    match form % 6 {
        0 => format!("in {}", middle.format("%B %Y")),
        1 => format!("on {}", middle.format("%-d %B %Y")),
        2 => format!("on {}", middle.format("%Y-%m-%d")),
        // a whole year lies within: the one after the start's
        3 => format!("in {}", start.year() + 1),
        4 => format!("in the summer of {}", start.year() + 1),
        _ => format!("{years_ago} years ago"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn at_least_two_hundred_different_questions_name_a_time_when_their_answer_held() {
        let now = first_of(2026, 11);
        let (memories, questions) = lives(now);
        assert!(questions.len() >= 200, "{} questions", questions.len());
        let different: HashSet<_> = questions.iter().map(|entry| &entry.question).collect();
        assert_eq!(different.len(), questions.len());
        for TimeQuestion { words, answer, .. } in &questions {
            let held = &memories.times[answer];
            let window = butler_domain::phrases::understand(words, now, chrono_tz::UTC).window;
            let window = window.unwrap_or_else(|| panic!("{words} was not understood"));
            let (from, to) = (window.from.unwrap(), window.to.unwrap());
            assert!(from < held.end && to > held.start, "{words} lies outside {held:?}");
        }
    }
}
