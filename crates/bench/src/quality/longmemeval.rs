//! LongMemEval: all sessions of the oracle file in one tenant, one episode per turn.

use std::path::Path;

use butler_domain::MemoryType;
use butler_memory::search::Mode;
use clap::ValueEnum;

use super::ask::{context, search};
use super::conversations::{BUDGETS, share_in_block};
use super::fill::Memories;
use super::scores::{Scores, recall_at};
use super::{Bench, show_progress};
use crate::datasets::{Conversation, Question, longmemeval};

/// Which questions to ask. Develop on the even half, and keep the odd half for checks.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Half {
    Even,
    Odd,
    All,
}

/// The turns that are asked for first. If they belong to fewer than five sessions, the second limit, which is the
/// maximum of the tools, decides about the sessions.
const LIMITS: [usize; 2] = [20, 100];
const SESSIONS: usize = 5;
const TURNS: usize = 10;

pub async fn run(bench: &mut Bench, path: &Path, half: Half) -> anyhow::Result<()> {
    let pool = longmemeval::read(path)?;
    let stored = bench.fill("longmemeval", &Memories::of_turns(&pool)).await?;
    let bm25 = bench.bm25(&stored).await?;
    let mut scores = Scores::new("LongMemEval");
    let in_half = |(number, _): &(usize, &Question)| match half {
        Half::Even => number % 2 == 0,
        Half::Odd => number % 2 == 1,
        Half::All => true,
    };
    let questions = pool.questions.iter().enumerate().filter(in_half).map(|(_, question)| question);
    for (number, question) in questions.take(bench.limit_questions).enumerate() {
        show_progress(number);
        let found = bm25.search(&mut bench.pg, &question.text, LIMITS[1]).await?;
        add(&mut scores, "BM25", &pool, question, &found, &found);
        for (method, mode) in &bench.modes {
            let ask = |limit| search(&bench.world.memory, &stored, MemoryType::Episode, *mode, &question.text, limit);
            let turns = ask(LIMITS[0]).await?;
            let more = if sessions(&pool, &turns).len() < SESSIONS { ask(LIMITS[1]).await? } else { turns.clone() };
            add(&mut scores, method, &pool, question, &turns, &more);
        }
        if !question.turns.is_empty() {
            for tokens in BUDGETS {
                let block = context(&bench.world.memory, &stored, Mode::Hybrid, &question.text, tokens).await?;
                let evidence = question.turns.iter().map(|turn| &pool.turns[*turn]);
                scores.add("context", &format!("in {tokens} tokens"), share_in_block(&block.text, evidence));
            }
        }
    }
    scores.report(&mut bench.report, |method, measure| match (half, method, measure) {
        (Half::Even, "hybrid", "session R@5") => Some(0.65),
        (Half::Even, "hybrid", "turn R@10") => Some(0.51),
        (Half::Even, "deep", "session R@5") => Some(0.72),
        (Half::Even, "deep", "turn R@10") => Some(0.63),
        _ => None,
    });
    Ok(())
}

/// Adds the recall of a question's sessions and, if it has any, of its turns.
fn add(scores: &mut Scores, method: &str, pool: &Conversation, question: &Question, turns: &[usize], more: &[usize]) {
    scores.add(method, "session R@5", recall_at(&sessions(pool, more), &question.sessions, SESSIONS));
    if !question.turns.is_empty() {
        scores.add(method, "turn R@10", recall_at(turns, &question.turns, TURNS));
    }
}

/// The sessions of the turns, in the order in which they first appear.
fn sessions(pool: &Conversation, turns: &[usize]) -> Vec<usize> {
    let mut sessions = Vec::new();
    for turn in turns {
        let session = pool.turns[*turn].session;
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    sessions
}
