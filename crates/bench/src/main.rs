//! The measurements behind docs/benchmarks.md: one file a sub-bench, run by `cargo xtask bench`.
//!
//! Figures are ratios within one run, since the machine is shared and noisy.

mod client;
mod figures;
mod host;
mod server;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    /// Where the figures go as JSON.
    #[arg(long, global = true)]
    json: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Bench {
    /// First and warm start of `butler serve`, its memory, and the cost of storing over HTTP.
    Host(host::Args),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let report = match cli.bench {
        Bench::Host(args) => host::run(args).await?,
    };
    report.print();
    report.write(cli.json.as_deref())
}
