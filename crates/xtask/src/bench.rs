//! `cargo xtask bench`: figures, always as ratios within one run, since the machine is shared and noisy.

use clap::ValueEnum;

use crate::run::{build_release, cargo, in_full, python, root, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// What to measure.
    which: Bench,
    /// Passed on to the benchmark.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bench {
    /// Lists and details of the REST API at 100k facts.
    Api,
    /// The embedding engine against candle, one thread and all.
    Embed,
    /// Stores and recalls a second by 1 to 32 clients over HTTP.
    Clients,
    /// A session's block of memory over HTTP at 1k, 10k and 100k facts.
    Context,
    /// Consolidation beside the model, and the cleanup of episodes.
    Consolidate,
    /// First and warm start of `butler serve`, its memory, and the cost of storing over HTTP.
    Host,
    /// Storing and superseding a fact at 100k facts, alone and by sixteen clients.
    Store,
    /// Resolving names among 100k entities over HTTP, tier by tier.
    Resolve,
    /// The decay sweep over 100k facts.
    Sweep,
    /// What a recall costs beyond embedding its query and one round trip.
    Recall,
    /// Retrieval quality on the LoCoMo conversations: `-- --data PATH`.
    Locomo,
    /// How the cost of everything grows from 10k to 1M facts over 1000 tenants; `-- --facts N` for fewer.
    Scale,
    /// Vector search against the exact answer.
    Vector,
    /// The same work on mem0, Hindsight, mcp-memory-service and the official MCP memory server, beside ours.
    Peers,
    /// docs/benchmarks.md from the figures of the last runs.
    Report,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let out = target_dir().join("bench");
    std::fs::create_dir_all(&out)?;
    match args.which {
        // A package of its own, so that candle is no part of the project's build.
        Bench::Embed => step(
            "bench embed",
            cargo()
                .args(["run", "--release", "--manifest-path"])
                .arg(root().join("bench/embed/Cargo.toml"))
                .args(["--", "--json"])
                .arg(out.join("embed.json"))
                .args(&args.rest),
        ),
        Bench::Clients => program("clients", &args.rest),
        Bench::Context => program("context", &args.rest),
        Bench::Consolidate => program("consolidate", &args.rest),
        Bench::Api => program("api", &args.rest),
        Bench::Host => program("host", &args.rest),
        Bench::Store => program("store", &args.rest),
        Bench::Resolve => program("resolve", &args.rest),
        Bench::Sweep => program("sweep", &args.rest),
        Bench::Recall => program("recall", &args.rest),
        Bench::Locomo => program("locomo", &args.rest),
        Bench::Scale => program("scale", &args.rest),
        Bench::Vector => program("vector", &args.rest),
        Bench::Peers => peers(&args.rest),
        Bench::Report => step(
            "bench report",
            cargo()
                .args(["run", "--package", "butler-bench", "--", "report", "--figures"])
                .arg(&out)
                .arg("--root")
                .arg(root()),
        ),
    }
}

/// In Python, since three of the peers are; they are installed in environments of their own.
fn peers(rest: &[String]) -> anyhow::Result<()> {
    build_release()?;
    let (release, json) = (target_dir().join("release"), target_dir().join("bench").join("peers.json"));
    let mut peers = python("peers");
    peers.arg("--butler").arg(release.join("butler")).arg("--bench").arg(release.join("bench"));
    step("bench peers", peers.arg("--json").arg(json).args(in_full(rest)))
}

/// A sub-bench of crates/bench, beside a server built the same way.
fn program(name: &str, rest: &[String]) -> anyhow::Result<()> {
    build_release()?;
    let mut program = std::process::Command::new(target_dir().join("release").join("bench"));
    let json = target_dir().join("bench").join(format!("{name}.json"));
    step(&format!("bench {name}"), program.args([name, "--json"]).arg(json).args(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_of_the_bench_outlive_closed_connections_and_tell_of_peers_that_died() {
        let tested = python("unittest").arg("peers.test_clients").output().unwrap();
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    }

    #[test]
    fn a_file_is_named_in_full_and_nothing_else_is_changed() {
        let given = ["--data".to_owned(), "Cargo.toml".to_owned(), "--sizes".to_owned(), "1000,10000".to_owned()];
        let passed: Vec<_> = in_full(&given).collect();
        assert_eq!(passed[1], std::env::current_dir().unwrap().join("Cargo.toml").canonicalize().unwrap());
        assert_eq!(
            (&passed[0], &passed[2], &passed[3]),
            (&given[0].clone().into(), &given[2].clone().into(), &given[3].clone().into())
        );
    }
}
