//! Typos: rare words and names with two typing errors, alone and in a sentence; misspelled aliases of entities.

mod aliases;
mod edits;
mod facts;

use super::Bench;
use super::fill::{Item, Memories};
use super::filler;
use super::scores::{Scores, hit_at};
use crate::facts::Dice;
use edits::misspelled;
use facts::FACTS;

/// Facts that surround the ones that are asked for.
const FILLER: usize = 600;
/// Misspellings of each word.
const SPELLINGS: u64 = 2;
const SENTENCES: [&str; 4] =
    ["What do you know about {w}?", "Tell me about {w}.", "Was there something with {w}?", "Who mentioned {w}?"];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let stored = bench.fill("typos", &memories()).await?;
    let mut scores = Scores::new("typos");
    for (number, (word, ..)) in FACTS.iter().enumerate().take(bench.limit_questions) {
        for spelling in 0..SPELLINGS {
            let typo = misspelled(word, 2, &mut Dice::new(number as u64 * SPELLINGS + spelling));
            let sentence = SENTENCES[number % SENTENCES.len()].replace("{w}", &typo);
            for (form, question) in [("one word", &typo), ("in a sentence", &sentence)] {
                for (method, found) in bench.ask_facts(&stored, question).await? {
                    scores.add(&method, &format!("hit@3, {form}"), hit_at(&found, number, 3));
                }
            }
        }
    }
    scores.report(&mut bench.report, |method, _| goal(method));
    aliases::run(bench).await
}

/// The least hit@3.
fn goal(method: &str) -> Option<f64> {
    matches!(method, "hybrid" | "fused" | "recall").then_some(0.90)
}

fn memories() -> Memories {
    let fact = |(_, subject, predicate, content): &(&str, &str, &str, &str)| Item::fact(subject, predicate, content);
    let mut memories = Memories { items: FACTS.iter().map(fact).collect(), ..Memories::default() };
    filler::add(&mut memories, FILLER, false);
    memories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rare_word_is_in_one_fact_only() {
        let texts: Vec<String> = memories().items.iter().map(|item| item.text().to_lowercase()).collect();
        for (number, (word, ..)) in FACTS.iter().enumerate() {
            assert!(word.chars().count() >= 6, "{word}");
            let having: Vec<usize> =
                (0..texts.len()).filter(|text| texts[*text].contains(&word.to_lowercase())).collect();
            assert_eq!(having, [number], "{word}");
        }
    }
}
