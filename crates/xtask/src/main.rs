//! Development chores: `cargo xtask test`, `bench`, `prepare`, `torture`, `scaleout`, `fuzz`, `tidy`, `web`.

mod bench;
mod fuzz;
mod llm;
mod metadata;
mod openapi;
mod prepare;
mod run;
mod scaleout;
mod server;
mod test;
mod tidy;
mod torture;
mod web;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development chores of Butler Memory")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything that must hold before a change lands: format, clippy, house rules, all tests, licences.
    Test(test::Args),
    /// Measurements, as ratios within one run.
    Bench(bench::Args),
    /// Renews the committed data of the checked SQL statements (.sqlx) against a freshly migrated database.
    Prepare,
    /// The tests that kill things, for long: every acknowledged write must survive.
    Torture(torture::Args),
    /// Two hundred butlers in one process, and failover after failover: the figures of docs/scaling.md.
    Scaleout(scaleout::Args),
    /// Each fuzz target for a while, from its committed corpus.
    Fuzz(fuzz::Args),
    /// Consolidation with a real, small and bad model on loopback. Building its server takes minutes, so no test waits for it.
    Llm(llm::Args),
    /// schemathesis against the REST API: no server error, no answer that the OpenAPI document does not name.
    Openapi(openapi::Args),
    /// The house rules that no compiler checks.
    Tidy,
    /// The dashboard: builds it and fails on a difference from the committed files, then its tests.
    Web(web::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Test(args) => test::run(&args),
        Chore::Bench(args) => bench::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::Llm(args) => llm::run(&args),
        Chore::Openapi(args) => openapi::run(&args),
        Chore::Prepare => prepare::run(),
        Chore::Torture(args) => torture::run(&args),
        Chore::Scaleout(args) => scaleout::run(&args),
        Chore::Tidy => tidy::run(),
        Chore::Web(args) => web::run(&args),
    }
}
