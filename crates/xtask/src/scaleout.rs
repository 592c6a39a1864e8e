//! `cargo xtask scaleout`: the long tests of tests/host/scaleout, which print the tables of docs/scaling.md.

use std::path::PathBuf;

use crate::run::{cargo, step};

#[derive(clap::Args)]
pub struct Args {
    /// Butlers in one process, each in its own schema of one database.
    #[arg(long, default_value_t = 200)]
    butlers: usize,
    /// Consecutive failovers.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The program to measure, for instance a release build. Default: the one that the tests build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--test", "host", "--", "scaleout::", "--ignored", "--nocapture"]);
    tests.arg("--test-threads=1");
    tests.env("BUTLER_SCALEOUT_BUTLERS", args.butlers.to_string());
    tests.env("BUTLER_SCALEOUT_ROUNDS", args.rounds.to_string());
    if let Some(program) = &args.program {
        tests.env("BUTLER_BIN", program.canonicalize()?);
    }
    step("many butlers, and failovers", &mut tests)
}
