//! How well duplicates and contradictions are recognised, on generated pairs of statements with known truth, and what
//! returns after it was forgotten.
//!
//! The pairs of every second topic serve to choose the thresholds; the figures come from the others.

mod pairs;
mod recorded;
mod replay;
mod topics;

use butler_domain::statements::{PARAPHRASE, contradiction_about, details, is_paraphrase_about};
use butler_domain::text::fact_text;
use butler_embed::{Embedder, Engine};

use crate::figures::Report;
use crate::world::World;
use pairs::{Pair, SUBJECT};
use topics::Truth;

#[derive(clap::Args)]
pub struct Args {
    /// Print the pairs of the reported half that were judged wrong.
    #[arg(long)]
    wrong: bool,
}

/// A pair with the similarity of its statements under one key.
struct Judged {
    pair: Pair,
    similarity: f64,
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let world = World::start(None).await?;
    let mut report = Report::new("conflicts");
    of_statements(&mut report, &world.engine, args.wrong).await?;
    recorded::run(&mut report, &world, args.wrong).await?;
    replay::run(&mut report, &world.memory).await?;
    world.stop()?;
    Ok(report)
}

/// What the rules for two statements under one key find, without a database.
async fn of_statements(report: &mut Report, engine: &Engine, wrong: bool) -> anyhow::Result<()> {
    let mut judged = Vec::new();
    for pair in pairs::pairs() {
        let texts = [&pair.a, &pair.b].map(|content| fact_text(SUBJECT, pair.predicate, content));
        let similarity = similarity(engine, texts).await?;
        judged.push(Judged { pair, similarity });
    }
    report.note("pairs", judged.len() as f64, "");
    let (tuned, reported): (Vec<Judged>, Vec<Judged>) =
        judged.into_iter().partition(|judged| judged.pair.topic % 2 == 0);
    for percent in (50..=95_u8).step_by(5) {
        let least = f64::from(percent) / 100.0;
        let (precision, recall) = judged_by(&tuned, Truth::Paraphrase, |judged| {
            judged.similarity >= least
                && details(&judged.pair.a).about(SUBJECT).agrees_with(&details(&judged.pair.b).about(SUBJECT))
        });
        report.point("precision by threshold, first half, %", usize::from(percent), precision, "");
        report.point("recall by threshold, first half, %", usize::from(percent), recall, "");
    }
    let by_vectors = |judged: &Judged| judged.similarity >= PARAPHRASE;
    let by_both = |judged: &Judged| is_paraphrase_about(SUBJECT, &judged.pair.a, &judged.pair.b, judged.similarity);
    let (precision, recall) = judged_by(&reported, Truth::Paraphrase, by_vectors);
    report.note("duplicates by vectors alone, precision", precision, "");
    report.note("duplicates by vectors alone, recall", recall, "");
    let (precision, recall) = judged_by(&reported, Truth::Paraphrase, by_both);
    report.at_least("duplicates, precision", precision, "", 0.95);
    report.at_least("duplicates, recall", recall, "", 0.6);
    let contradicts = |judged: &Judged| contradiction_about(SUBJECT, &judged.pair.a, &judged.pair.b).is_some();
    let (precision, recall) = judged_by(&reported, Truth::Contradiction, contradicts);
    report.at_least("contradictions, precision", precision, "", 0.95);
    report.note("contradictions, recall", recall, "");
    if wrong {
        for judged in &reported {
            let Judged { pair: Pair { a, b, truth, .. }, similarity } = judged;
            print_if_wrong(*truth, by_both(judged), contradicts(judged), &format!("{similarity:.3}: {a} | {b}"));
        }
    }
    Ok(())
}

/// The cosine similarity of two texts.
async fn similarity(engine: &Engine, texts: [String; 2]) -> anyhow::Result<f64> {
    let vectors = engine.embed_batch(texts.to_vec()).await?;
    Ok(vectors[0].iter().zip(vectors[1].iter()).map(|(a, b)| f64::from(a * b)).sum())
}

fn judged_by(pairs: &[Judged], of: Truth, found: impl Fn(&Judged) -> bool) -> (f64, f64) {
    rates(of, pairs.iter().map(|judged| (judged.pair.truth, found(judged))))
}

/// Precision and recall of what was found of one truth, from pairs of (truth, was found). An update may contradict what it
/// replaces, so as a contradiction it counts neither way.
fn rates(of: Truth, pairs: impl Iterator<Item = (Truth, bool)>) -> (f64, f64) {
    let (mut right, mut found, mut all) = (0.0, 0.0, 0.0);
    for (truth, was_found) in pairs.filter(|(truth, _)| of != Truth::Contradiction || *truth != Truth::Update) {
        let is_true = truth == of;
        all += f64::from(u8::from(is_true));
        found += f64::from(u8::from(was_found));
        right += f64::from(u8::from(is_true && was_found));
    }
    (right / found, right / all)
}

#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
fn print_if_wrong(truth: Truth, duplicate: bool, contradicts: bool, shown: &str) {
    let wrong = duplicate != (truth == Truth::Paraphrase)
        || (truth != Truth::Update && contradicts != (truth == Truth::Contradiction));
    if wrong {
        println!("{truth:?} duplicate={duplicate} contradicts={contradicts} {shown}");
    }
}
