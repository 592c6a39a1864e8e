//! The real server as a process with its own data directory.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

pub struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    pub address: String,
    /// The time from the start of the process to its line `ready`.
    pub start: Duration,
}

/// The `butler` program beside this one. `cargo xtask bench` builds both.
pub fn butler() -> anyhow::Result<Command> {
    let program = std::env::current_exe()?.with_file_name("butler");
    if !program.exists() {
        bail!("{} is missing; run `cargo xtask bench`, which builds it", program.display());
    }
    Ok(Command::new(program))
}

impl Server {
    pub fn start(data_dir: &Path) -> anyhow::Result<Self> {
        let began = Instant::now();
        let mut child = butler()?
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data_dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("ready http://").context("the server did not start")?.to_owned();
        Ok(Self { child, address, start: began.elapsed() })
    }

    /// Resident memory of the server process in MB (Linux).
    pub fn rss_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let kb =
            status.lines().find_map(|line| line.strip_prefix("VmRSS:")).and_then(|rest| rest.split_whitespace().next());
        kb.and_then(|kb| kb.parse::<f64>().ok()).map_or(f64::NAN, |kb| kb / 1024.0)
    }

    pub fn stop(mut self) -> anyhow::Result<()> {
        self.end()
    }

    /// Stops the server gracefully, so that it stops its PostgreSQL, and waits for it.
    fn end(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            Command::new("kill").arg(self.child.id().to_string()).status()?;
            self.child.wait()?;
        }
        Ok(())
    }
}

/// Stops the server when a benchmark fails.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The owner's connection URL of the default butler's database.
pub fn database_url(data_dir: &Path) -> anyhow::Result<String> {
    let output = butler()?.args(["db", "url", "--data-dir"]).arg(data_dir).output()?;
    if !output.status.success() {
        bail!("butler db url: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
