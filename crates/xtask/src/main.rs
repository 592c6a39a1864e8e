//! Development tasks: `cargo xtask --help` lists them.

mod bench;
mod dist;
mod fuzz;
mod licences;
mod llm;
mod metadata;
mod openapi;
mod prepare;
mod run;
mod scaleout;
mod scratch;
mod server;
mod spdx;
mod test;
mod tidy;
mod torture;
mod web;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Butler Memory")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every check that must pass before a change lands: format, house rules, licences, clippy, all tests, the dashboard.
    Test(test::Args),
    /// Run a benchmark. It fails if a goal is missed.
    Bench(bench::Args),
    /// Update the committed data of the checked SQL statements (.sqlx) from a freshly migrated database.
    Prepare,
    /// Inject faults under load, for minutes: every acknowledged write must survive.
    Torture(torture::Args),
    /// Measure two hundred butlers in one process, and repeated failovers: the figures of docs/scaling.md.
    Scaleout(scaleout::Args),
    /// Build every package of a release for this platform: tarball, wheels, npm, Debian; with checksums and an SBOM.
    Dist(dist::Args),
    /// Run the fuzz targets from their committed corpora.
    Fuzz(fuzz::Args),
    /// Check the licence and the source of every dependency.
    Licences,
    /// Consolidate with a real, small and bad model on loopback. Not part of the tests, because building its server takes minutes.
    Llm(llm::Args),
    /// Run schemathesis against the REST API: no server error, and no response that the OpenAPI document does not describe.
    Openapi(openapi::Args),
    /// Check the house rules that the compiler does not check.
    Tidy,
    /// Check the dashboard: build it, compare it with the committed files, run its tests.
    Web(web::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Dist(args) => dist::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Licences => licences::run(),
        Task::Llm(args) => llm::run(&args),
        Task::Openapi(args) => openapi::run(&args),
        Task::Prepare => prepare::run(),
        Task::Torture(args) => torture::run(&args),
        Task::Scaleout(args) => scaleout::run(&args),
        Task::Tidy => tidy::run(),
        Task::Web(args) => web::run(&args),
    }
}
