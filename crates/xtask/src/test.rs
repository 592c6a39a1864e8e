//! `cargo xtask test`: the one command that says whether the house stands.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use crate::run::{cargo, exists, root, step};
use crate::server::TestServer;
use crate::{tidy, web};

#[derive(clap::Args)]
pub struct Args {
    /// Only the tests whose name contains this.
    filter: Option<String>,
    /// A test that fails is not repeated.
    #[arg(long)]
    once: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    step("format", cargo().args(["fmt", "--all", "--", "--check"]).args(tool_files()?))
        .context("`cargo fmt --all -- crates/memory/src/tools/*.rs` formats everything")?;
    tidy::run()?;
    step("clippy", cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let server = TestServer::start(&["--workspace"])?;
    let shaky = tests(args)?;
    drop(server);
    if args.filter.is_none() {
        web::run(&web::Args::default())?;
    }
    if exists("cargo-deny", &["--version"]) {
        step("licences, bans, sources", cargo().args(["deny", "check", "licenses", "bans", "sources"]))?;
    } else {
        eprintln!("\n── cargo-deny is not installed: licences, bans and sources were not checked");
    }
    if !shaky.is_empty() {
        eprintln!("\n── passed only when repeated alone, which is a fault to be mended: {}", shaky.join(", "));
    }
    Ok(())
}

/// The files of the MCP tools. A macro declares them as modules, so `cargo fmt` does not find them by itself.
fn tool_files() -> anyhow::Result<Vec<PathBuf>> {
    let folder = root().join("crates/memory/src/tools");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// All tests; those that fail once more, alone, since a machine that stalls must not decide whether a change lands. Names those that
/// needed it.
fn tests(args: &Args) -> anyhow::Result<Vec<String>> {
    let filter: Vec<&str> = args.filter.iter().map(String::as_str).collect();
    let (status, outcome) = cargo_test(&filter)?;
    if status.success() {
        return Ok(Vec::new());
    }
    let failed = outcome.failed;
    // a test program that died tells no names
    ensure!(!failed.is_empty() && !args.once, "tests failed ({status}): {}", failed.join(", "));
    eprintln!("\n── failed, and repeated alone: {}", failed.join(", "));
    let mut again = vec!["--", "--exact", "--test-threads=1"];
    again.extend(failed.iter().map(String::as_str));
    let (status, outcome) = cargo_test(&again)?;
    if !status.success() || outcome.passed < failed.len() {
        bail!("tests failed twice ({status}): {}", failed.join(", "));
    }
    Ok(failed)
}

#[derive(Default)]
struct Outcome {
    passed: usize,
    failed: Vec<String>,
}

impl Outcome {
    /// A line as the test programs print it: `test NAME ... FAILED`, `test result: ok. 3 passed; …`.
    fn read(&mut self, line: &str) {
        let Some(line) = line.strip_prefix("test ") else { return };
        if let Some((_, counts)) = line.strip_prefix("result: ").and_then(|result| result.split_once(". ")) {
            self.passed += counts.split(' ').next().and_then(|count| count.parse::<usize>().ok()).unwrap_or_default();
        } else if let Some((name, "FAILED")) = line.trim_end().split_once(" ... ")
            && !self.failed.iter().any(|known| known == name)
        {
            self.failed.push(name.to_owned());
        }
    }
}

fn cargo_test(arguments: &[&str]) -> anyhow::Result<(ExitStatus, Outcome)> {
    eprintln!("\n── tests");
    let started = Instant::now();
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(arguments).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut outcome = Outcome::default();
    for line in BufReader::new(child.stdout.take().context("the tests have no output")?).split(b'\n') {
        let mut line = line?;
        outcome.read(&String::from_utf8_lossy(&line));
        line.push(b'\n');
        std::io::stdout().write_all(&line)?;
    }
    let status = child.wait()?;
    eprintln!("── tests: {:.1} s", started.elapsed().as_secs_f64());
    Ok((status, outcome))
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn failures_are_read_by_name() {
        let mut outcome = Outcome::default();
        for line in [
            "running 4 tests",
            "test host::a ... ok",
            "test b ... FAILED",
            "test c ... FAILED",
            "test c ... FAILED",
            "test d ... ignored, for a reason",
            "test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured",
            "test result: ok. 20 passed; 0 failed; 0 ignored; 0 measured",
        ] {
            outcome.read(line);
        }
        assert_eq!((outcome.passed, outcome.failed.as_slice()), (21, &["b".to_owned(), "c".to_owned()][..]));
    }
}
