//! `cargo xtask torture`: fault injection and crash tests for minutes instead of seconds.

use std::process::Command;

use crate::fuzz;
use crate::run::{cargo, exists, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// Minutes of fault injection under load, with a check of the whole database after each round.
    #[arg(long)]
    minutes: Option<f64>,
    /// Kills in each of the tests that kill something. Without --minutes and --rounds: 10 minutes and 50 rounds.
    #[arg(long)]
    rounds: Option<usize>,
    /// Determines the faults and their order; the same seed gives the same plan.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Concurrent clients.
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Seconds per fuzz target if cargo-fuzz is installed; 0 to skip.
    #[arg(long, default_value_t = 60)]
    fuzz_seconds: u64,
    /// Use a release build instead of the debug build, which checks for overflow.
    #[arg(long)]
    release: bool,
}

const MINUTES: f64 = 10.0;
const ROUNDS: usize = 50;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let all = args.minutes.is_none() && args.rounds.is_none();
    if let Some(rounds) = args.rounds.or(all.then_some(ROUNDS)) {
        kills(rounds)?;
    }
    if let Some(minutes) = args.minutes.or(all.then_some(MINUTES)) {
        fuzzed(args)?;
        faults(args, minutes)?;
    }
    Ok(())
}

fn kills(rounds: usize) -> anyhow::Result<()> {
    let rounds = rounds.to_string();
    step("kill the server under write load", tests("kill").env("BUTLER_KILL_ROUNDS", &rounds))?;
    step(
        "kill a worker in every phase of consolidation",
        tests("consolidation").arg("kill::").env("BUTLER_TEST_KILLS", &rounds),
    )?;
    step("call every tool of one tenant with every id of another", tests("core").arg("leaks::"))?;
    step("call every path of one tenant with every id of another", tests("host").arg("rest::leaks::"))?;
    step("10 000 requests from 64 connections", tests("host").args(["load::", "--", "--ignored", "--nocapture"]))
}

fn fuzzed(args: &Args) -> anyhow::Result<()> {
    if args.fuzz_seconds == 0 {
        return Ok(());
    }
    if !exists("cargo", &["fuzz", "--version"]) {
        eprintln!("\n── cargo-fuzz is not installed, so no fuzz target runs (`cargo xtask fuzz` installs it)");
        return Ok(());
    }
    fuzz::all(args.fuzz_seconds)
}

/// Uses the build of the tests by default: overflows and failed assertions panic, and nothing is compiled twice.
fn faults(args: &Args, minutes: f64) -> anyhow::Result<()> {
    let mut build = cargo();
    build.args(["build", "--workspace", "--bin", "butler", "--bin", "torture"]);
    if args.release {
        build.arg("--release");
    }
    step("build", &mut build)?;
    let out = target_dir().join("bench");
    std::fs::create_dir_all(&out)?;
    let built = target_dir().join(if args.release { "release" } else { "debug" });
    let mut torture = Command::new(built.join("torture"));
    torture.args(["run", "--minutes", &minutes.to_string(), "--seed", &args.seed.to_string()]);
    torture.args(["--clients", &args.clients.to_string(), "--json"]).arg(out.join("torture.json"));
    torture.arg("--log").arg(out.join("torture.log"));
    step("faults under load", &mut torture)
}

/// With the whole workspace, as `cargo xtask test` builds it: a package alone gets other features and is compiled again.
fn tests(name: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace", "--test", name]);
    command
}
