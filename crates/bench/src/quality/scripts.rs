//! Scripts without spaces: facts and questions in the same language, among other facts in it.

mod chinese;
mod japanese;
mod thai;

use super::Bench;
use super::fill::{Item, Memories};
use super::scores::{Scores, hit_at};

/// Subject, predicate, content and question.
type Fact = (&'static str, &'static str, &'static str, &'static str);

struct Script {
    name: &'static str,
    facts: &'static [Fact],
    /// Other subjects, each of which has all `statements` (predicate and content).
    others: &'static [&'static str],
    statements: &'static [(&'static str, &'static str)],
    has_goal: bool,
}

const SCRIPTS: [Script; 3] = [
    Script {
        name: "Chinese",
        facts: &chinese::FACTS,
        others: &chinese::OTHERS,
        statements: &chinese::STATEMENTS,
        has_goal: true,
    },
    Script {
        name: "Japanese",
        facts: &japanese::FACTS,
        others: &japanese::OTHERS,
        statements: &japanese::STATEMENTS,
        has_goal: true,
    },
    Script { name: "Thai", facts: &thai::FACTS, others: &thai::OTHERS, statements: &thai::STATEMENTS, has_goal: false },
];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    for script in &SCRIPTS {
        let stored = bench.fill("scripts", &memories(script)).await?;
        let mut scores = Scores::new(script.name);
        for (number, (.., question)) in script.facts.iter().enumerate().take(bench.limit_questions) {
            for (method, found) in bench.ask_facts(&stored, question).await? {
                scores.add(&method, "hit@1", hit_at(&found, number, 1));
            }
        }
        let has_goal = |method: &str| script.has_goal && matches!(method, "hybrid" | "fused");
        scores.report(&mut bench.report, |method, _| has_goal(method).then_some(0.75));
    }
    Ok(())
}

fn memories(script: &Script) -> Memories {
    let facts = script.facts.iter().map(|(subject, predicate, content, _)| Item::fact(subject, predicate, content));
    let others = script.others.iter().flat_map(|subject| {
        script.statements.iter().map(|(predicate, content)| Item::fact(subject, predicate, content))
    });
    Memories { items: facts.chain(others).collect(), ..Memories::default() }
}
