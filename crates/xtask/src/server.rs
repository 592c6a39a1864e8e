//! The PostgreSQL server that all tests share, kept running for as long as they run.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::run::{cargo, root, step, target_dir};

pub struct TestServer {
    child: Child,
    /// The owner's URL of the maintenance database.
    pub url: String,
    /// The folder of the server's own psql.
    pub bin_dir: PathBuf,
}

impl TestServer {
    /// Builds and runs `postgres-hold`, which downloads what a new machine lacks. Tests find the server by its data
    /// directory.
    ///
    /// `packages` selects what to build: with the whole workspace, the tests that follow reuse the dependencies.
    pub fn start(packages: &[&str], data_dir: &Path) -> anyhow::Result<Self> {
        step("build", cargo().args(["build", "--bins"]).args(packages))?;
        eprintln!("\n── test server");
        let mut child = Command::new(target_dir().join("debug").join("postgres-hold"))
            .arg(data_dir)
            .args(["-", "-"])
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the test server")?;
        let stdout = child.stdout.take().context("the test server has no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let words: Vec<&str> = line.trim_end().splitn(4, ' ').collect();
        match words[..] {
            ["ready", _pid, url, bin_dir] => Ok(Self { child, url: url.to_owned(), bin_dir: bin_dir.into() }),
            _ => bail!("the test server did not start: {line}"),
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // it stops when its input ends
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
