//! `cargo xtask torture`: what `cargo xtask test` does for seconds, for as long as it takes to believe it.

use std::process::Command;

use crate::run::{cargo, step};

#[derive(clap::Args)]
pub struct Args {
    /// How often the server is killed under load.
    #[arg(long, default_value_t = 50)]
    rounds: usize,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let rounds = args.rounds.to_string();
    step("kill the server under write load", tests("kill").env("BUTLER_KILL_ROUNDS", &rounds))?;
    step(
        "kill a worker in every phase of consolidation",
        tests("consolidation").arg("kill::").env("BUTLER_TEST_KILLS", &rounds),
    )?;
    step("every tool of one tenant with every id of another", tests("core").arg("leaks::"))?;
    step("every path of one tenant with every id of another", tests("host").arg("rest::leaks::"))?;
    step("10 000 requests from 64 connections", tests("host").args(["load::", "--", "--ignored", "--nocapture"]))
}

/// With the workspace, as `cargo xtask test` builds it: a package alone would be built with other features, anew.
fn tests(name: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--test", name]);
    command
}
