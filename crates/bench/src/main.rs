//! The measurements behind docs/benchmarks.md, one file per benchmark, run by `cargo xtask bench`.
//!
//! Figures are ratios within one run where that is possible, because machines are shared and noisy. A missed goal ends
//! the program with exit code 1.

mod api;
mod client;
mod clients;
mod conflicts;
mod consolidate;
mod context;
mod copy;
mod datasets;
mod endpoint;
mod facts;
mod figures;
mod graph;
mod host;
mod locomo;
mod population;
mod quality;
mod recall;
mod report;
mod resolve;
mod scale;
mod server;
mod store;
mod svg;
mod sweep;
mod time;
mod vector;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    /// Write the figures to this file as JSON.
    #[arg(long, global = true)]
    json: Option<PathBuf>,
    /// Exit with 0 although a goal is missed, for exploratory runs.
    #[arg(long, global = true)]
    allow_missed: bool,
}

#[derive(Subcommand)]
enum Bench {
    /// Lists and details of the REST API with 100k facts.
    Api(api::Args),
    /// Stores and recalls per second by 1 to 32 clients over HTTP.
    Clients(clients::Args),
    /// Precision and recall of duplicates and contradictions on generated pairs, and what returns after it was forgotten.
    Conflicts(conflicts::Args),
    /// Building the consolidation prompt, applying its answer, and episode cleanup beside a writer.
    Consolidate(consolidate::Args),
    /// A session's context over HTTP, beside a recall and a list, with 1k, 10k and 100k facts.
    Context(context::Args),
    /// The embedding endpoint that `bench peers` starts: OpenAI's interface, our model.
    Endpoint(endpoint::Args),
    /// The relations around an entity among 100k relations, over HTTP.
    Graph(graph::Args),
    /// First and warm start of `butler serve`, its memory use, the cost of storing over HTTP and of HTTP itself, the hooks.
    Host(host::Args),
    /// What a recall costs beyond embedding its query, with 1k, 10k and 100k facts.
    Recall(recall::Args),
    /// Write docs/benchmarks.md from the figures of the last runs.
    Report(report::Args),
    /// Resolving names among 100k entities over HTTP, tier by tier.
    Resolve(resolve::Args),
    /// Retrieval quality on LoCoMo (`--data`, your own copy).
    Locomo(locomo::Args),
    /// Retrieval quality of all modes, recall and context, on generated sets and on data sets of your own.
    Quality(quality::Args),
    /// How every cost grows from 10k to 1M facts in 1000 tenants.
    Scale(scale::Args),
    /// What storing a fact costs beyond embedding it, what superseding adds, and the throughput of sixteen clients.
    Store(store::Args),
    /// The decay sweep over 100k facts.
    Sweep(sweep::Args),
    /// What `valid_at` and `as_of` add to a call, with 10k keys of ten versions each.
    Time(time::Args),
    /// Vector search compared with the exact answer.
    Vector(vector::Args),
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    let report = match cli.bench {
        Bench::Api(args) => api::run(args).await?,
        Bench::Clients(args) => clients::run(args).await?,
        Bench::Conflicts(args) => conflicts::run(args).await?,
        Bench::Consolidate(args) => consolidate::run(args).await?,
        Bench::Context(args) => context::run(args).await?,
        Bench::Endpoint(args) => return endpoint::run(args).await.map(|()| ExitCode::SUCCESS),
        Bench::Graph(args) => graph::run(args).await?,
        Bench::Host(args) => host::run(args).await?,
        Bench::Recall(args) => recall::run(args).await?,
        Bench::Report(args) => return report::run(&args).map(|()| ExitCode::SUCCESS),
        Bench::Resolve(args) => resolve::run(args).await?,
        Bench::Locomo(args) => locomo::run(args).await?,
        Bench::Quality(args) => quality::run(args).await?,
        Bench::Scale(args) => scale::run(args).await?,
        Bench::Store(args) => store::run(args).await?,
        Bench::Sweep(args) => sweep::run(args).await?,
        Bench::Time(args) => time::run(args).await?,
        Bench::Vector(args) => vector::run(args).await?,
    };
    report.print();
    report.write(cli.json.as_deref())?;
    let missed = report.missed();
    for line in &missed {
        eprintln!("goal missed: {line}");
    }
    Ok(if missed.is_empty() || cli.allow_missed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
