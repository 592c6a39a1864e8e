//! `cargo xtask llm`: consolidation with a real, small and bad model, plainly and by JSON schema.

use crate::run::{build_release, python, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// How many batches are consolidated each way.
    #[arg(long, default_value_t = 50)]
    batches: usize,
    /// Each way ends after this, with the batches it has by then.
    #[arg(long, default_value_t = 120)]
    minutes: u64,
    /// `plain`, `schema` or both.
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
