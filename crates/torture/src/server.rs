//! The server under test as a process: start, kill, pause, query.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Enough for a start with crash recovery on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(240);
const STOP_WITHIN: Duration = Duration::from_secs(120);

/// Everything needed to start the server.
#[derive(Debug, Clone)]
pub struct Setup {
    pub butler: PathBuf,
    pub data_dir: PathBuf,
    pub config: PathBuf,
    /// The server's log, for the investigation of a violation.
    pub log: PathBuf,
    /// By how many seconds the server sees its clock shifted.
    pub clock_offset: PathBuf,
}

impl Setup {
    /// Sets the server's clock wrong, or right again with 0.
    pub fn shift_clock(&self, seconds: i64) -> anyhow::Result<()> {
        // renamed, so that the server never reads half a number
        let new = self.clock_offset.with_extension("new");
        std::fs::write(&new, seconds.to_string())?;
        Ok(std::fs::rename(new, &self.clock_offset)?)
    }
}

pub struct Server {
    setup: Setup,
    child: Child,
    /// `127.0.0.1:PORT`
    pub address: String,
}

impl Server {
    pub async fn start(setup: &Setup) -> anyhow::Result<Self> {
        let log = File::options().create(true).append(true).open(&setup.log)?;
        let mut child = Command::new(&setup.butler)
            .args(["serve", "--listen", "127.0.0.1:0", "--rate-limit", "0", "--data-dir"])
            .arg(&setup.data_dir)
            .arg("--config")
            .arg(&setup.config)
            .env("BUTLER_CLOCK_OFFSET_FILE", &setup.clock_offset)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot run {}", setup.butler.display()))?;
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        let read = tokio::time::timeout(START_WITHIN, stdout.read_line(&mut line)).await;
        let Some(address) = line.trim().strip_prefix("ready http://") else {
            let _ = child.kill().await;
            let said = std::fs::read_to_string(&setup.log).unwrap_or_default();
            let tail: Vec<&str> = said.lines().rev().take(12).collect();
            let tail = tail.into_iter().rev().collect::<Vec<_>>().join("\n");
            bail!("the server did not start ({}):\n{tail}", if read.is_err() { "timeout" } else { "it exited" });
        };
        Ok(Self { setup: setup.clone(), address: address.to_owned(), child })
    }

    /// The exit status, if the server has exited.
    pub fn died(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| status.to_string())
    }

    pub async fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Stops the server gracefully, together with its private PostgreSQL.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM);
        let status =
            tokio::time::timeout(STOP_WITHIN, self.child.wait()).await.context("it did not exit in time")??;
        if !status.success() {
            bail!("it exited with {status}");
        }
        Ok(())
    }

    pub fn postgres(&self) -> Postgres {
        Postgres { data_dir: self.setup.data_dir.clone() }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child.id() {
            send(pid, signal);
        }
    }
}

/// The processes of a data directory's private PostgreSQL.
pub struct Postgres {
    data_dir: PathBuf,
}

impl Postgres {
    pub fn socket(&self) -> PathBuf {
        self.data_dir.join("run/.s.PGSQL.5432")
    }

    pub fn postmaster(&self) -> Option<u32> {
        let file = std::fs::read_to_string(self.data_dir.join("postgres/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// The processes that serve a session of the server.
    pub fn backends(&self) -> Vec<u32> {
        let of_server = |pid: &u32| command_line(*pid).contains("butler");
        self.children().into_iter().filter(of_server).collect()
    }

    pub fn kill(&self) {
        if let Some(pid) = self.postmaster() {
            send(pid, Signal::KILL);
        }
    }

    pub fn pause(&self) {
        self.all(Signal::STOP);
    }

    pub fn resume(&self) {
        self.all(Signal::CONT);
    }

    fn all(&self, signal: Signal) {
        // the postmaster is paused first and resumed last, so that it starts no process in between
        let mut pids: Vec<u32> = self.postmaster().into_iter().chain(self.children()).collect();
        if signal == Signal::CONT {
            pids.reverse();
        }
        pids.into_iter().for_each(|pid| send(pid, signal));
    }

    fn children(&self) -> Vec<u32> {
        let Some(parent) = self.postmaster() else { return Vec::new() };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
    }
}

pub fn send(pid: u32, signal: Signal) {
    // the process may have exited in the meantime
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn command_line(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// Whether the server reports that it is ready.
pub async fn is_ready(address: &str) -> bool {
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(address).await.ok()?;
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).await.ok()?;
        line.contains(" 200 ").then_some(())
    };
    tokio::time::timeout(Duration::from_secs(10), ask).await.is_ok_and(|answer| answer.is_some())
}

/// Waits until the server is ready. Returns the time it took, or `None` after `within`.
pub async fn ready_again(address: &str, within: Duration) -> Option<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < within {
        if is_ready(address).await {
            return Some(begun.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    None
}

/// Runs a command of the program under test on its data directory.
pub async fn command(setup: &Setup, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(&setup.butler);
    command.args(arguments).arg("--data-dir").arg(&setup.data_dir).arg("--config").arg(&setup.config);
    let output = command.stdin(Stdio::null()).output().await?;
    if !output.status.success() {
        bail!("butler {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The configuration for the test: this program as the model, and background jobs every minute.
pub fn configuration(program: &Path) -> String {
    format!(
        "[butler]\nname = \"general\"\n\n[butler.runtime]\ntype = \"command\"\ncommand = [{:?}, \"llm\"]\n\n\
         [modules.memory.schedule]\nconsolidation = \"* * * * *\"\ndecay_sweep = \"* * * * *\"\nepisode_cleanup = \"* * * * *\"\n",
        program.display().to_string()
    )
}
