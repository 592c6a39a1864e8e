//! `cargo xtask bench`: runs a benchmark on release builds. A missed goal fails the command.

use clap::ValueEnum;

use crate::run::{build_release, cargo, python, root, step, target_dir, with_absolute_paths};

#[derive(clap::Args)]
pub struct Args {
    /// The benchmark to run.
    which: Bench,
    /// Options of the benchmark, for instance `--allow-missed`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bench {
    /// Lists and details of the REST API with 100k facts.
    Api,
    /// The embedding engine compared with candle.
    Embed,
    /// Stores and recalls per second by 1 to 32 clients over HTTP.
    Clients,
    /// Precision and recall of duplicates and contradictions, and what returns after it was forgotten.
    Conflicts,
    /// A session's context over HTTP with 1k, 10k and 100k facts.
    Context,
    /// Consolidation without the model, and episode cleanup.
    Consolidate,
    /// The relations around an entity among 100k relations, over HTTP.
    Graph,
    /// First and warm start of `butler serve`, its memory use, and the cost of storing over HTTP.
    Host,
    /// Storing and superseding facts with 100k facts in the table, by one and by sixteen clients.
    Store,
    /// Resolving names among 100k entities over HTTP, tier by tier.
    Resolve,
    /// The decay sweep over 100k facts.
    Sweep,
    /// The cost of a recall beyond embedding its query and one round trip.
    Recall,
    /// Retrieval quality on the LoCoMo conversations: `-- --data PATH`.
    Locomo,
    /// Retrieval quality of all modes, recall and context; `-- --help` lists the sets.
    Quality,
    /// How every cost grows from 10k to 1M facts in 1000 tenants; `-- --facts N` for fewer.
    Scale,
    /// What `valid_at` and `as_of` add to a call, with 10k keys of ten versions each.
    Time,
    /// Vector search compared with the exact answer.
    Vector,
    /// The same work on this project, mem0, Hindsight, mcp-memory-service and the official MCP memory server.
    Peers,
    /// Write docs/benchmarks.md from the figures of the last runs.
    Report,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let out = target_dir().join("bench");
    std::fs::create_dir_all(&out)?;
    match args.which {
        // a package of its own, so that candle is not part of the project's build
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
        Bench::Conflicts => program("conflicts", &args.rest),
        Bench::Context => program("context", &args.rest),
        Bench::Consolidate => program("consolidate", &args.rest),
        Bench::Api => program("api", &args.rest),
        Bench::Graph => program("graph", &args.rest),
        Bench::Host => program("host", &args.rest),
        Bench::Store => program("store", &args.rest),
        Bench::Resolve => program("resolve", &args.rest),
        Bench::Sweep => program("sweep", &args.rest),
        Bench::Recall => program("recall", &args.rest),
        Bench::Locomo => program("locomo", &args.rest),
        Bench::Quality => program("quality", &args.rest),
        Bench::Scale => program("scale", &args.rest),
        Bench::Time => program("time", &args.rest),
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

/// Written in Python, as most of the other systems are. Each of them is installed in its own environment.
fn peers(rest: &[String]) -> anyhow::Result<()> {
    build_release()?;
    let (release, json) = (target_dir().join("release"), target_dir().join("bench").join("peers.json"));
    let mut peers = python("peers");
    peers.arg("--butler").arg(release.join("butler")).arg("--bench").arg(release.join("bench"));
    step("bench peers", peers.arg("--json").arg(json).args(with_absolute_paths(rest)))
}

/// Runs a benchmark of crates/bench with a server of the same build.
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
    fn the_python_programs_pass_their_own_tests() {
        let tested = python("unittest").args(["peers.test_clients", "common.test_figures"]).output().unwrap();
        assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    }

    #[test]
    fn the_path_of_a_file_becomes_absolute_and_other_arguments_stay() {
        let given = ["--data".to_owned(), "Cargo.toml".to_owned(), "--sizes".to_owned(), "1000,10000".to_owned()];
        let passed: Vec<_> = with_absolute_paths(&given).collect();
        assert_eq!(passed[1], std::env::current_dir().unwrap().join("Cargo.toml").canonicalize().unwrap());
        assert_eq!(
            (&passed[0], &passed[2], &passed[3]),
            (&given[0].clone().into(), &given[2].clone().into(), &given[3].clone().into())
        );
    }
}
