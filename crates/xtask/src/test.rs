//! `cargo xtask test`: every check that must pass before a change lands.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use crate::run::{cargo, root, step};
use crate::scratch::Scratch;
use crate::server::TestServer;
use crate::{licences, tidy, web};

#[derive(clap::Args)]
pub struct Args {
    /// Run only the tests whose name contains this text, and no dashboard checks.
    filter: Option<String>,
    /// Do not repeat a failed test.
    #[arg(long)]
    once: bool,
    /// Leave out all checks of the dashboard, which need Node.js with npm, and Chromium.
    #[arg(long)]
    skip_dashboard: bool,
    /// Leave out the dashboard's browser tests, which need Chromium.
    #[arg(long)]
    skip_browser: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let dashboard = args.filter.is_none() && !args.skip_dashboard;
    if dashboard {
        // before the minutes of tests, not after them
        web::install_tools(!args.skip_browser)?;
    }
    step("format", cargo().args(["fmt", "--all", "--", "--check"]).args(tool_files()?))
        .context("`cargo fmt --all -- crates/memory/src/tools/*.rs` formats everything")?;
    tidy::run()?;
    licences::run()?;
    step("clippy", cargo().args(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    let scratch = Scratch::new();
    let server = TestServer::start(&["--workspace"], &scratch.postgres())?;
    let beside = if dashboard { Some(web::Beside::start(args.skip_browser, &scratch)?) } else { None };
    let flaky = tests(args, &scratch);
    let dashboard = beside.map_or(Ok(()), web::Beside::finish);
    drop(server);
    drop(scratch);
    if args.skip_dashboard {
        eprintln!("\n── dashboard: not checked (--skip-dashboard)");
    }
    let flaky = flaky?;
    dashboard?;
    verdict(&flaky, std::env::var("CI").is_ok_and(|value| value == "true"))
}

/// Reports the tests that passed only when repeated. In CI they fail the command, because nobody reads a warning there.
fn verdict(flaky: &[String], ci: bool) -> anyhow::Result<()> {
    if flaky.is_empty() {
        return Ok(());
    }
    let report = format!("failed, and passed when repeated alone: {}", flaky.join(", "));
    ensure!(!ci, "{report}; with CI=true this is an error");
    eprintln!("\n── {report}\n   Find the cause and fix it: with CI=true this is an error.");
    Ok(())
}

/// The files of the MCP tools. A macro declares them as modules, so `cargo fmt` does not find them by itself.
fn tool_files() -> anyhow::Result<Vec<PathBuf>> {
    let folder = root().join("crates/memory/src/tools");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

/// Runs all tests, and repeats the failed ones alone. Returns the names of those that passed only then.
fn tests(args: &Args, scratch: &Scratch) -> anyhow::Result<Vec<String>> {
    let filter: Vec<&str> = args.filter.iter().map(String::as_str).collect();
    let (status, outcome) = cargo_test(&filter, scratch)?;
    if status.success() {
        return Ok(Vec::new());
    }
    let failed = outcome.failed;
    // a test program that crashes names no failed test
    ensure!(!failed.is_empty() && !args.once, "tests failed ({status}): {}", failed.join(", "));
    eprintln!("\n── failed tests, repeated alone: {}", failed.join(", "));
    let mut again = vec!["--", "--exact", "--test-threads=1"];
    again.extend(failed.iter().map(String::as_str));
    let (status, outcome) = cargo_test(&again, scratch)?;
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
    /// Reads a line that a test program prints: `test NAME ... FAILED`, `test result: ok. 3 passed; …`.
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

fn cargo_test(arguments: &[&str], scratch: &Scratch) -> anyhow::Result<(ExitStatus, Outcome)> {
    eprintln!("\n── tests");
    let started = Instant::now();
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).args(arguments).stdout(Stdio::piped());
    let mut child = scratch.apply(&mut command).spawn().with_context(|| format!("cannot run {command:?}"))?;
    let mut outcome = Outcome::default();
    for line in BufReader::new(child.stdout.take().context("cannot read the output of the tests")?).split(b'\n') {
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
    use super::{Outcome, verdict};

    #[test]
    fn failed_tests_are_read_by_name() {
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
    #[test]
    fn a_test_that_passes_only_when_repeated_fails_the_command_in_ci_only() {
        let flaky = ["host::a".to_owned(), "b".to_owned()];
        assert!(verdict(&flaky, false).is_ok());
        let error = verdict(&flaky, true).unwrap_err().to_string();
        assert!(error.contains("host::a, b"), "{error}");
        assert!(verdict(&[], true).is_ok());
    }
}
