//! `cargo xtask openapi`: runs schemathesis against the REST API of a real server with demo data.

use crate::run::{cargo, python, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// Seconds of generated requests.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// The seed of the generated requests.
    #[arg(long, default_value_t = 7)]
    seed: u64,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    step("build", cargo().args(["build", "--workspace", "--bin", "butler"]))?;
    let mut api = python("openapi");
    api.arg("--butler").arg(target_dir().join("debug").join("butler"));
    api.args(["--seconds", &args.seconds.to_string(), "--seed", &args.seed.to_string()]);
    step("schemathesis against /api/openapi.json", &mut api)
}
