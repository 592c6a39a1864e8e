//! Conversations: one tenant per conversation and one episode per turn; and LoCoMo's observations as facts.

use butler_domain::text::flatten_line;
use butler_domain::{MemoryType, phrases};
use butler_memory::search::Mode;

use super::fill::{Item, Memories, Stored};
use super::scores::{Scores, recall_at};
use super::{Bench, ask, show_progress};
use crate::datasets::locomo::ADVERSARIAL;
use crate::datasets::{Conversation, Observation, Question, Turn};
use crate::facts::Dice;

/// The numbers of results that are reported. A search asks for the largest.
const DEPTHS: [usize; 3] = [5, 10, 20];
/// The sizes of the context blocks, in tokens.
pub(super) const BUDGETS: [usize; 3] = [500, 1000, 3000];
/// The group of LoCoMo's questions that have an answer.
const ANSWERED: &str = "categories 1–4";
/// The modes whose R@10 is also reported for each category of [`ANSWERED`].
const BY_CATEGORY: [&str; 3] = ["hybrid", "fused", "deep"];
/// The bases of a context that are compared.
const BASES: [(&str, Mode); 2] = [("context", Mode::Hybrid), ("context on fused", Mode::Fused)];
/// The goal for recall's R@10 on the development half: what commit e8ae124 measured there, .733, plus .012. On the held-out
/// half the same commit measured .773, and the goal there is .785. The figures of the two halves are not comparable, and
/// nothing in a file tells which half it is.
const RECALL_GOAL: f64 = 0.745;
/// Recalls of other questions before recall is measured after use.
const OTHER_RECALLS: usize = 160;

pub async fn locomo(bench: &mut Bench, conversations: &[Conversation]) -> anyhow::Result<()> {
    let group = |question: &Question| match question.category.as_str() {
        ADVERSARIAL => "category 5",
        _ => ANSWERED,
    };
    let scores = turns(bench, "LoCoMo", conversations, &group).await?;
    scores.report(&mut bench.report, |method, measure| match (method, measure) {
        ("hybrid", "R@10, categories 1–4") => Some(0.70),
        ("fused", "R@10, categories 1–4") => Some(0.72),
        ("deep", "R@10, categories 1–4") => Some(0.79),
        ("context", "in 3000 tokens, categories 1–4") => Some(0.70),
        _ => None,
    });
    let scores = words_of_time(bench, conversations).await?;
    for (method, _) in bench.modes.clone() {
        let dated = format!("{method} with dates");
        scores.report_difference(&mut bench.report, &dated, &method, "R@10", 0.0);
    }
    scores.report(&mut bench.report, |_, _| None);
    let scores = observations(bench, conversations).await?;
    scores.report(&mut bench.report, |method, _| (method == "recall").then_some(RECALL_GOAL));
    scores.report_difference(&mut bench.report, "recall after use", "recall", "R@10", -0.01);
    Ok(())
}

/// A set without goals.
pub async fn plain(bench: &mut Bench, set: &str, conversations: &[Conversation]) -> anyhow::Result<()> {
    let scores = turns(bench, set, conversations, &|_| "all questions").await?;
    scores.report(&mut bench.report, |_, _| None);
    Ok(())
}

/// Stores the turns and asks the questions that have evidence.
async fn turns(
    bench: &mut Bench,
    set: &str,
    conversations: &[Conversation],
    group: &dyn Fn(&Question) -> &'static str,
) -> anyhow::Result<Scores> {
    let mut scores = Scores::new(set);
    for conversation in conversations {
        let stored = bench.fill(&set.to_lowercase(), &Memories::of_turns(conversation)).await?;
        let bm25 = bench.bm25(&stored).await?;
        let questions = conversation.questions.iter().filter(|question| !question.turns.is_empty());
        for (number, question) in questions.take(bench.limit_questions).enumerate() {
            show_progress(number);
            let group = group(question);
            let limit = DEPTHS[DEPTHS.len() - 1];
            let mut found = vec![("BM25".to_owned(), bm25.search(&mut bench.pg, &question.text, limit).await?)];
            found.extend(bench.search(&stored, MemoryType::Episode, &question.text, limit).await?);
            for (method, found) in found {
                for depth in DEPTHS {
                    let value = recall_at(&found, &question.turns, depth);
                    scores.add(&method, &format!("R@{depth}, {group}"), value);
                    if depth == 10 && group == ANSWERED && BY_CATEGORY.contains(&method.as_str()) {
                        scores.add(&method, &format!("R@10, category {}", question.category), value);
                    }
                }
            }
            for tokens in BUDGETS {
                // The base of a context does not affect its episodes, so one base is enough here.
                let block = ask::context(&bench.world.memory, &stored, Mode::Hybrid, &question.text, tokens).await?;
                let evidence = question.turns.iter().map(|turn| &conversation.turns[*turn]);
                let measure = format!("in {tokens} tokens, {group}");
                scores.add("context", &measure, share_in_block(&block.text, evidence));
            }
        }
    }
    Ok(scores)
}

/// Asks the questions that name a time, among the turns as they are and among turns that know when they were said.
async fn words_of_time(bench: &mut Bench, conversations: &[Conversation]) -> anyhow::Result<Scores> {
    let mut scores = Scores::new("LoCoMo, questions with words of time");
    let now = bench.world.memory.now();
    let names_time =
        |of: &&Question| !of.turns.is_empty() && phrases::understand(&of.text, now, chrono_tz::UTC).window.is_some();
    for conversation in conversations {
        let variants =
            [("", Memories::of_turns(conversation)), (" with dates", Memories::of_dated_turns(conversation))];
        for (suffix, memories) in variants {
            let stored = bench.fill("locomo", &memories).await?;
            for question in conversation.questions.iter().filter(names_time).take(bench.limit_questions) {
                for (method, found) in bench.search(&stored, MemoryType::Episode, &question.text, 10).await? {
                    scores.add(&format!("{method}{suffix}"), "R@10", recall_at(&found, &question.turns, 10));
                }
            }
        }
    }
    Ok(scores)
}

/// The share of the turns whose whole text is in the block.
pub(super) fn share_in_block<'a>(block: &str, turns: impl ExactSizeIterator<Item = &'a Turn>) -> f64 {
    let all = turns.len() as f64;
    let said = |turn: &&Turn| block.contains(&flatten_line(&format!("{}: {}", turn.speaker, turn.text)));
    turns.filter(said).count() as f64 / all
}

/// Stores the observations as facts about their speakers. The evidence of a question is every observation of a turn that
/// contains its answer.
async fn observations(bench: &mut Bench, conversations: &[Conversation]) -> anyhow::Result<Scores> {
    let mut scores = Scores::new("LoCoMo facts");
    for conversation in conversations {
        let stored = bench.fill("locomo-facts", &observed(conversation, false)).await?;
        let for_context = bench.fill("locomo-facts", &observed(conversation, true)).await?;
        let bm25 = bench.bm25(&stored).await?;
        let questions = answered_by_observations(conversation, bench.limit_questions);
        forget_use(bench, &stored).await?;
        for (text, evidence) in &questions {
            let mut found = vec![("BM25".to_owned(), bm25.search(&mut bench.pg, text, ask::LIMIT).await?)];
            found.extend(bench.ask_facts(&stored, text).await?);
            let on_fused = ask::recall_on(&bench.world.memory, &stored, Mode::Fused, text, ask::LIMIT).await?;
            found.push(("recall on fused".to_owned(), on_fused));
            for (method, found) in found {
                scores.add(&method, "R@10", recall_at(&found, evidence, 10));
            }
            for (method, mode) in BASES {
                for tokens in BUDGETS {
                    let block = ask::context(&bench.world.memory, &for_context, mode, text, tokens).await?;
                    let shown: Vec<usize> = block.facts.iter().filter_map(|id| for_context.position(id.0)).collect();
                    scores.add(method, &format!("in {tokens} tokens"), recall_at(&shown, evidence, shown.len()));
                }
            }
        }
        for value in after_use(bench, &stored, &questions).await? {
            scores.add("recall after use", "R@10", value);
        }
    }
    Ok(scores)
}

/// The observations as facts about their speakers.
fn observed(of: &Conversation, in_global_scope: bool) -> Memories {
    let fact = |of: &Observation| Item::fact(&of.subject, "observation", &of.content);
    Memories { items: of.observations.iter().map(fact).collect(), in_global_scope, ..Memories::default() }
}

/// The questions of categories 1–4 whose evidence is in observations, with the positions of these.
fn answered_by_observations(of: &Conversation, limit: usize) -> Vec<(String, Vec<usize>)> {
    let evidence = |question: &Question| {
        let shares_turn = |turns: &[usize]| turns.iter().any(|turn| question.turns.contains(turn));
        let observations = of.observations.iter().enumerate();
        let found =
            observations.filter(|(_, observation)| shares_turn(&observation.turns)).map(|(position, _)| position);
        (question.text.clone(), found.collect::<Vec<usize>>())
    };
    let answerable = of.questions.iter().filter(|question| question.category != ADVERSARIAL);
    answerable.map(evidence).filter(|(_, evidence)| !evidence.is_empty()).take(limit).collect()
}

/// R@10 of each question after [`OTHER_RECALLS`] recalls of other questions: each half of the questions is measured after
/// recalls of the other half.
async fn after_use(bench: &mut Bench, stored: &Stored, questions: &[(String, Vec<usize>)]) -> anyhow::Result<Vec<f64>> {
    let mut order: Vec<usize> = (0..questions.len()).collect();
    Dice::new(5).shuffle(&mut order);
    let (first, second) = order.split_at(order.len() / 2);
    let mut values = vec![0.0; questions.len()];
    for (measured, others) in [(first, second), (second, first)] {
        for other in others.iter().cycle().take(OTHER_RECALLS) {
            ask::use_recall(&bench.world.memory, stored, &questions[*other].0, ask::LIMIT).await?;
        }
        for question in measured {
            let (text, evidence) = &questions[*question];
            let found = ask::recall(&bench.world.memory, stored, text, ask::LIMIT).await?;
            values[*question] = recall_at(&found, evidence, 10);
        }
        forget_use(bench, stored).await?;
    }
    Ok(values)
}

/// Makes the facts as unused as after storing them, so that a later run on the same database starts fresh.
async fn forget_use(bench: &mut Bench, stored: &Stored) -> anyhow::Result<()> {
    sqlx::query(
        "UPDATE facts SET last_referenced_at = NULL, reference_count = 0
         WHERE tenant_id = $1 AND last_referenced_at IS NOT NULL",
    )
    .bind(stored.tenant.as_str())
    .execute(&mut bench.pg)
    .await?;
    Ok(())
}
