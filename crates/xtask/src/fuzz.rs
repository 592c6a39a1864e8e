//! `cargo xtask fuzz`: runs the fuzz targets for a limited time, starting from the committed corpora.

use anyhow::bail;

use crate::run::{cargo, exists, root, step, target_dir};

#[derive(clap::Args)]
pub struct Args {
    /// Seconds per target.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Run only this target.
    target: Option<String>,
}

const TARGETS: [&str; 5] = ["consolidation_answer", "untrusted_text", "butler_toml", "tool_arguments", "import_file"];

pub fn run(args: &Args) -> anyhow::Result<()> {
    if !exists("cargo", &["fuzz", "--version"]) {
        step("install cargo-fuzz", cargo().args(["install", "cargo-fuzz", "--locked"]))?;
    }
    let named = args.target.as_deref();
    let targets: Vec<&str> = TARGETS.into_iter().filter(|target| named.is_none_or(|named| named == *target)).collect();
    if targets.is_empty() {
        bail!("no such fuzz target; the targets are: {}", TARGETS.join(", "));
    }
    targets.into_iter().try_for_each(|target| one(target, args.seconds))
}

/// Runs every target. cargo-fuzz must be installed.
pub fn all(seconds: u64) -> anyhow::Result<()> {
    TARGETS.into_iter().try_for_each(|target| one(target, seconds))
}

fn one(target: &str, seconds: u64) -> anyhow::Result<()> {
    // new inputs are kept out of the committed corpus
    let grown = target_dir().join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&grown)?;
    step(
        &format!("fuzz {target}"),
        cargo()
            .current_dir(root().join("fuzz"))
            // libFuzzer's instrumentation is an unstable flag of the stable compiler; without unsafe code no sanitizer is needed
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--sanitizer", "none", "--target-dir"])
            .arg(target_dir().join("fuzz/build"))
            .arg(target)
            .arg(&grown)
            .arg(root().join("fuzz/corpus").join(target))
            .args(["--", &format!("-max_total_time={seconds}"), "-max_len=16384", "-timeout=10"]),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_target_is_listed_and_has_a_committed_corpus() {
        let fuzz = root().join("fuzz");
        let named: BTreeSet<String> = TARGETS.iter().map(|target| (*target).to_owned()).collect();
        let stems = |folder: &str| -> BTreeSet<String> {
            let entries = std::fs::read_dir(fuzz.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
            entries.map(|name| Path::new(&name).file_stem().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(stems("fuzz_targets"), named);
        assert_eq!(stems("corpus"), named);
    }
}
