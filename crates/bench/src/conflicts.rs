//! How well duplicates and contradictions are recognised, on generated pairs of statements with known truth.
//!
//! The pairs of every second topic serve to choose the threshold; the figures come from the others.

mod topics;

use butler_domain::statements::{PARAPHRASE, contradiction_about, details, is_paraphrase_about};
use butler_domain::text::fact_text;
use butler_embed::{Embedder, Engine, EngineOptions};

use crate::figures::Report;
use topics::{Pair, Truth};

#[derive(clap::Args)]
pub struct Args {
    /// Print the pairs of the reported half that were judged wrong.
    #[arg(long)]
    wrong: bool,
}

const SUBJECT: &str = "Anna";

/// A pair with the similarity that the store would see.
struct Judged {
    pair: Pair,
    similarity: f64,
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let engine = Engine::new(EngineOptions::default());
    engine.warm_up().await?;
    let mut judged = Vec::new();
    for pair in topics::pairs() {
        let text = |content: &str| fact_text(SUBJECT, pair.predicate, content);
        let vectors = engine.embed_batch(vec![text(&pair.a), text(&pair.b)]).await?;
        let similarity = vectors[0].iter().zip(vectors[1].iter()).map(|(a, b)| f64::from(a * b)).sum();
        judged.push(Judged { pair, similarity });
    }
    let mut report = Report::new("conflicts");
    report.note("pairs", judged.len() as f64, "");
    let (tuned, reported): (Vec<Judged>, Vec<Judged>) =
        judged.into_iter().partition(|judged| judged.pair.topic % 2 == 0);
    for percent in (50..=95).step_by(5) {
        let least = f64::from(percent) / 100.0;
        let (precision, recall) = duplicates(&tuned, |judged| {
            judged.similarity >= least
                && details(&judged.pair.a).about(SUBJECT).agrees_with(&details(&judged.pair.b).about(SUBJECT))
        });
        report.point("precision by threshold, first half, %", percent as usize, precision, "");
        report.point("recall by threshold, first half, %", percent as usize, recall, "");
    }
    let by_vectors = |judged: &Judged| judged.similarity >= PARAPHRASE;
    let by_both = |judged: &Judged| is_paraphrase_about(SUBJECT, &judged.pair.a, &judged.pair.b, judged.similarity);
    let (precision, recall) = duplicates(&reported, by_vectors);
    report.note("duplicates by vectors alone, precision", precision, "");
    report.note("duplicates by vectors alone, recall", recall, "");
    let (precision, recall) = duplicates(&reported, by_both);
    report.at_least("duplicates, precision", precision, "", 0.95);
    report.at_least("duplicates, recall", recall, "", 0.6);
    let contradicts = |judged: &Judged| contradiction_about(SUBJECT, &judged.pair.a, &judged.pair.b).is_some();
    let (precision, recall) = contradictions(&reported, contradicts);
    report.at_least("contradictions, precision", precision, "", 0.95);
    report.note("contradictions, recall", recall, "");
    if args.wrong {
        print_wrong(&reported, by_both, contradicts);
    }
    Ok(report)
}

fn duplicates(pairs: &[Judged], found: impl Fn(&Judged) -> bool) -> (f64, f64) {
    rates(pairs.iter().map(|judged| (judged.pair.truth == Truth::Paraphrase, found(judged))))
}

/// An update may contradict what it replaces, so it counts neither way.
fn contradictions(pairs: &[Judged], found: impl Fn(&Judged) -> bool) -> (f64, f64) {
    let judged = pairs.iter().filter(|judged| judged.pair.truth != Truth::Update);
    rates(judged.map(|judged| (judged.pair.truth == Truth::Contradiction, found(judged))))
}

/// Precision and recall of pairs of (is true, was found).
fn rates(pairs: impl Iterator<Item = (bool, bool)>) -> (f64, f64) {
    let (mut right, mut found, mut all) = (0.0, 0.0, 0.0);
    for (is_true, was_found) in pairs {
        all += f64::from(u8::from(is_true));
        found += f64::from(u8::from(was_found));
        right += f64::from(u8::from(is_true && was_found));
    }
    (right / found, right / all)
}

#[expect(clippy::print_stdout, reason = "the list is what was asked for")]
fn print_wrong(pairs: &[Judged], duplicate: impl Fn(&Judged) -> bool, contradicts: impl Fn(&Judged) -> bool) {
    for judged in pairs {
        let Judged { pair: Pair { a, b, truth, .. }, similarity } = judged;
        let (duplicate, contradicts) = (duplicate(judged), contradicts(judged));
        let wrong = duplicate != (*truth == Truth::Paraphrase)
            || (*truth != Truth::Update && contradicts != (*truth == Truth::Contradiction));
        if wrong {
            println!("{truth:?} duplicate={duplicate} contradicts={contradicts} {similarity:.3}: {a} | {b}");
        }
    }
}
