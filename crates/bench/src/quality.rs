//! `bench quality`: how well search, recall and context find the right memory, in one table.
//!
//! Every set is stored through the real memory and asked in every mode. The baselines run beside them: mode `semantic`
//! is plain cosine similarity, and BM25 is computed here. Each figure has a 95 % bootstrap interval over the questions.

mod aliases;
mod ask;
mod bm25;
mod conversations;
mod estimate;
mod fill;
mod filler;
mod graph;
mod longmemeval;
mod one_subject;
mod scores;
mod scripts;
mod time;
mod typos;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::ensure;
use butler_domain::MemoryType;
use butler_memory::search::Mode;
use clap::ValueEnum;
use sqlx::{Connection, PgConnection};

use crate::datasets;
use crate::figures::Report;
use crate::world::World;
use bm25::Bm25;
use fill::{Memories, Stored};

#[derive(clap::Args)]
pub struct Args {
    /// The LoCoMo file as published.
    #[arg(long)]
    locomo: Option<PathBuf>,
    /// The oracle file of LongMemEval as published.
    #[arg(long)]
    longmemeval: Option<PathBuf>,
    /// The directory with REALTALK's `Chat_*.json` files.
    #[arg(long)]
    realtalk: Option<PathBuf>,
    /// A directory with BEAM's conversations of one size, for instance `chats/100K`.
    #[arg(long)]
    beam: Option<PathBuf>,
    /// The questions of LongMemEval to ask, by their position in the file.
    #[arg(long, default_value = "even")]
    questions: longmemeval::Half,
    /// Run only these sets. By default all generated sets run, and the data sets whose path is given.
    #[arg(long)]
    only: Vec<Set>,
    /// Ask at most this many questions of each store, for a quick run.
    #[arg(long)]
    limit_questions: Option<usize>,
    /// Search modes to measure. A mode that this build does not have is skipped.
    #[arg(long = "mode", default_values = ["semantic", "keyword", "hybrid", "fused", "deep"])]
    modes: Vec<String>,
    /// Also look for the aliases among 100,000 facts.
    #[arg(long)]
    large: bool,
    /// Use this database instead of a new one. What an earlier run stored there is used again.
    #[arg(long)]
    database_url: Option<String>,
    /// Start the server on this data directory and keep it. What an earlier run stored there is used again.
    #[arg(long, conflicts_with = "database_url")]
    data_dir: Option<PathBuf>,
    /// Store everything again under this name, for instance after a change to what is stored or indexed.
    #[arg(long, default_value = "")]
    generation: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Set {
    OneSubject,
    Aliases,
    Graph,
    Time,
    Typos,
    Scripts,
    Locomo,
    Longmemeval,
    Realtalk,
    Beam,
}

/// What every set needs: the memory, its database, and the figures.
struct Bench {
    world: World,
    pg: PgConnection,
    modes: Vec<(String, Mode)>,
    generation: String,
    limit_questions: usize,
    report: Report,
}

impl Bench {
    async fn fill(&mut self, set: &str, memories: &Memories) -> anyhow::Result<Stored> {
        let began = Instant::now();
        let stored = fill::fill(&self.world.memory, &mut self.pg, set, &self.generation, memories).await?;
        eprintln!("{}: {} memories, {:.0} s", stored.tenant, stored.texts.len(), began.elapsed().as_secs_f64());
        Ok(stored)
    }

    async fn bm25(&mut self, stored: &Stored) -> anyhow::Result<Bm25> {
        Bm25::new(&mut self.pg, &stored.texts).await
    }

    /// What each search mode finds, by the mode's name.
    async fn search(
        &self,
        stored: &Stored,
        of: MemoryType,
        query: &str,
        limit: usize,
    ) -> anyhow::Result<Vec<(String, Vec<usize>)>> {
        let mut found = Vec::new();
        for (name, mode) in &self.modes {
            found.push((name.clone(), ask::search(&self.world.memory, stored, of, *mode, query, limit).await?));
        }
        Ok(found)
    }

    /// What each search mode and recall find among facts with the tools' default limit.
    async fn ask_facts(&self, stored: &Stored, query: &str) -> anyhow::Result<Vec<(String, Vec<usize>)>> {
        let mut found = self.search(stored, MemoryType::Fact, query, ask::LIMIT).await?;
        found.push(("recall".to_owned(), ask::recall(&self.world.memory, stored, query, ask::LIMIT).await?));
        Ok(found)
    }
}

pub async fn run(args: Args) -> anyhow::Result<Report> {
    let world = match &args.data_dir {
        Some(data_dir) => World::on(data_dir).await?,
        None => World::start(args.database_url.as_deref()).await?,
    };
    let pg = PgConnection::connect(&world.url).await?;
    let mut bench = Bench {
        world,
        pg,
        modes: modes(&args.modes),
        generation: args.generation.clone(),
        limit_questions: args.limit_questions.unwrap_or(usize::MAX),
        report: Report::new("quality"),
    };
    for set in Set::value_variants() {
        if args.only.is_empty() || args.only.contains(set) {
            let began = Instant::now();
            run_set(*set, &args, &mut bench).await?;
            eprintln!("{set:?}: {:.0} s", began.elapsed().as_secs_f64());
        }
    }
    let Bench { world, report, .. } = bench;
    world.stop()?;
    Ok(report)
}

async fn run_set(set: Set, args: &Args, bench: &mut Bench) -> anyhow::Result<()> {
    let path = match set {
        Set::OneSubject => return one_subject::run(bench).await,
        Set::Aliases => return aliases::run(bench, args.large).await,
        Set::Graph => return graph::run(bench).await,
        Set::Time => return time::run(bench).await,
        Set::Typos => return typos::run(bench).await,
        Set::Scripts => return scripts::run(bench).await,
        Set::Locomo => &args.locomo,
        Set::Longmemeval => &args.longmemeval,
        Set::Realtalk => &args.realtalk,
        Set::Beam => &args.beam,
    };
    let Some(path) = path else {
        ensure!(args.only.is_empty(), "--only names a data set whose path is not given");
        return Ok(());
    };
    match set {
        Set::Longmemeval => longmemeval::run(bench, path, args.questions).await,
        Set::Realtalk => conversations::plain(bench, "REALTALK", &datasets::realtalk::read(path)?).await,
        Set::Beam => conversations::plain(bench, "BEAM", &datasets::beam::read(path)?).await,
        _ => conversations::locomo(bench, &datasets::locomo::read(path)?).await,
    }
}

fn show_progress(done: usize) {
    if done > 0 && done.is_multiple_of(50) {
        eprintln!("  asked {done} questions");
    }
}

/// The modes that this build has.
fn modes(names: &[String]) -> Vec<(String, Mode)> {
    let known = |name: &String| match name.parse() {
        Ok(mode) => Some((name.clone(), mode)),
        Err(error) => {
            eprintln!("mode {name} is skipped: {error}");
            None
        }
    };
    names.iter().filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::modes;

    #[test]
    fn a_mode_that_does_not_exist_is_skipped() {
        let names = ["hybrid", "psychic"].map(str::to_owned);
        assert_eq!(modes(&names).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), ["hybrid"]);
    }
}
