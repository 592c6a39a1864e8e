//! One subject: many facts about the same person, so that her name does not help.

mod facts;

use super::Bench;
use super::fill::{Item, Memories};
use super::scores::{Scores, reciprocal_rank};
use crate::facts::Dice;
use facts::{KEY, OTHERS, SUBJECT};

/// The questions of a store with ten facts; one more fact is nobody's answer.
const TEN: usize = 9;
/// The most questions of a store with 50 or 500 facts; the other facts are nobody's answer.
const LARGE: usize = 36;

/// The facts of one store in the order of storing, and questions with the position of their answer.
struct Store {
    facts: Vec<(String, String)>,
    questions: Vec<(String, usize)>,
}

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for (size, stores) in [(10, ten()), (50, large(50)), (500, large(500))] {
        let mut scores = Scores::new(format!("one subject, {size} facts"));
        for Store { facts, questions } in stores {
            let items = facts.iter().map(|(predicate, content)| Item::fact(SUBJECT, predicate, content)).collect();
            let stored = bench.fill("one-subject", &Memories { items, ..Memories::default() }).await?;
            let bm25 = bench.bm25(&stored).await?;
            for (question, answer) in questions.into_iter().take(bench.limit_questions) {
                let mut found =
                    vec![("BM25".to_owned(), bm25.search(&mut bench.pg, &question, super::ask::LIMIT).await?)];
                found.extend(bench.ask_facts(&stored, &question).await?);
                for (method, found) in found {
                    scores.add(&method, "MRR", reciprocal_rank(&found, answer));
                }
            }
        }
        scores.report(&mut bench.report, |_, _| None);
        for method in ["hybrid", "fused", "deep", "recall"] {
            scores.report_difference(&mut bench.report, method, "semantic", "MRR", 0.0);
        }
    }
    Ok(())
}

/// Stores with ten facts each, in which each question is asked once.
fn ten() -> Vec<Store> {
    let chunks = KEY.chunks(TEN).zip(OTHERS);
    chunks.map(|(answers, (predicate, content))| shuffled(answers, vec![(predicate.into(), content.into())])).collect()
}

/// Stores with 50 or 500 facts each, in which each question is asked once.
fn large(size: usize) -> Vec<Store> {
    let store = |answers: &[(&str, &str, &str)]| {
        let others = OTHERS.map(|(predicate, content)| (predicate.to_owned(), content.to_owned()));
        let events = facts::events(size.saturating_sub(answers.len() + OTHERS.len()));
        shuffled(answers, others.into_iter().chain(events).take(size - answers.len()).collect())
    };
    KEY.chunks(LARGE).map(store).collect()
}

fn shuffled(answers: &[(&str, &str, &str)], others: Vec<(String, String)>) -> Store {
    let mut facts: Vec<(String, String)> =
        answers.iter().map(|(predicate, content, _)| ((*predicate).to_owned(), (*content).to_owned())).collect();
    facts.extend(others);
    Dice::new(1).shuffle(&mut facts);
    let answer = |(predicate, content, question): &(&str, &str, &str)| {
        let position = facts.iter().position(|fact| fact.0 == *predicate && fact.1 == *content);
        position.map(|position| (question.replace("{s}", SUBJECT), position))
    };
    let questions = answers.iter().filter_map(answer).collect();
    Store { questions, facts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_has_its_size_and_all_questions_are_asked() {
        for (size, stores) in [(10, ten()), (50, large(50)), (500, large(500))] {
            assert!(stores.iter().all(|store| store.facts.len() == size));
            assert_eq!(stores.iter().map(|store| store.questions.len()).sum::<usize>(), KEY.len());
        }
        assert!(KEY.len() >= 72);
    }
}
