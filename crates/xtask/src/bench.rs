//! `cargo xtask bench`: figures, always as ratios within one run, since the machine is shared and noisy.

use clap::ValueEnum;

use crate::run::{cargo, root, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// What to measure.
    #[arg(value_enum, required = true)]
    which: Vec<Bench>,
    /// Passed on to the benchmark, after `--`.
    #[arg(last = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bench {
    /// The embedding engine against candle, one thread and all.
    Embed,
    /// First and warm start of `butler serve`, its memory, and the cost of storing over HTTP.
    Host,
    /// Resolving names among 100k entities over HTTP, tier by tier.
    Resolve,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let out = target_dir().join("bench");
    std::fs::create_dir_all(&out)?;
    for bench in &args.which {
        match bench {
            Bench::Embed => {
                // A package of its own, so that candle is no part of the project's build.
                let manifest = root().join("bench/embed/Cargo.toml");
                step(
                    "bench embed",
                    cargo()
                        .args(["run", "--release", "--manifest-path"])
                        .arg(manifest)
                        .args(["--", "--json"])
                        .arg(out.join("embed.json"))
                        .args(&args.rest),
                )?;
            }
            Bench::Host => {
                step("build", cargo().args(["build", "--release", "--package", "butler", "--package", "bench"]))?;
                let mut program = std::process::Command::new(target_dir().join("release").join("bench"));
                step("bench host", program.args(["host", "--json"]).arg(out.join("host.json")).args(&args.rest))?;
            }
            Bench::Resolve => {
                step("build", cargo().args(["build", "--release", "--package", "butler", "--package", "bench"]))?;
                let mut program = std::process::Command::new(target_dir().join("release").join("bench"));
                step("bench resolve", program.args(["resolve", "--json"]).arg(out.join("resolve.json")).args(&args.rest))?;
            }
        }
    }
    Ok(())
}
