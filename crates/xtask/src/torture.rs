//! `cargo xtask torture`: what `cargo xtask test` does for seconds, for as long as it takes to believe it.

use crate::run::{cargo, step};

#[derive(clap::Args)]
pub struct Args {
    /// How often the server is killed under load.
    #[arg(long, default_value_t = 50)]
    rounds: usize,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut kill = cargo();
    kill.args(["test", "--package", "butler", "--test", "kill"]).env("BUTLER_KILL_ROUNDS", args.rounds.to_string());
    step("kill the server under write load", &mut kill)?;
    let mut load = cargo();
    load.args(["test", "--package", "butler", "--test", "host", "--", "--ignored", "--nocapture", "load::"]);
    step("10 000 requests from 64 connections", &mut load)
}
