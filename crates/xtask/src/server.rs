//! The PostgreSQL all tests share, started once and held open for as long as they run.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use crate::run::{cargo, root, step, target_dir};

pub struct TestServer {
    child: Child,
    /// Connects as the owner to the server's maintenance database.
    pub url: String,
    /// Where the server's own psql lies.
    pub bin_dir: PathBuf,
}

impl TestServer {
    /// Builds and starts `test-server`, which fetches what a new machine lacks. The tests find it by its data directory.
    pub fn start() -> anyhow::Result<Self> {
        step("build the test server", cargo().args(["build", "--package", "postgres", "--bin", "test-server"]))?;
        eprintln!("\n── test server");
        let mut child = Command::new(target_dir().join("debug").join("test-server"))
            .arg(target_dir().join("test-postgres"))
            .current_dir(root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the test server")?;
        let stdout = child.stdout.take().context("the test server has no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        match line.trim_end().strip_prefix("ready ").and_then(|rest| rest.split_once(' ')) {
            Some((url, bin_dir)) => Ok(Self { child, url: url.to_owned(), bin_dir: bin_dir.into() }),
            None => bail!("the test server did not come up ({}); its reason is above", child.wait()?),
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // It stops at the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
