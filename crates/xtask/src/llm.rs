//! `cargo xtask llm`: consolidation with a real, small and bad model, with and without a JSON schema.

use crate::run::{build_release, python, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// Batches to consolidate in each mode.
    #[arg(long, default_value_t = 50)]
    batches: usize,
    /// Stop each mode after this time, whatever number of batches is done.
    #[arg(long, default_value_t = 120)]
    minutes: u64,
    /// The modes: `plain`, `schema`, or both.
    #[arg(long, default_value = "plain,schema")]
    ways: String,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    build_release()?;
    let mut llm = python("llm");
    llm.arg("--butler").arg(target_dir().join("release").join("butler"));
    llm.arg("--json").arg(target_dir().join("bench").join("llm.json"));
    llm.args(["--batches", &args.batches.to_string(), "--minutes", &args.minutes.to_string(), "--ways", &args.ways]);
    step("consolidate with a real model", &mut llm)
}
