//! Starts and stops the server process.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use butler_fetch::Progress;
use rustix::process::Signal;

use crate::account::Account;
use crate::cluster::Cluster;
use crate::error::{PathContext, PostgresError};
use crate::postmaster::{self, Phase, Postmaster, State};
use crate::runtime::Runtime;

pub(crate) const POLL: Duration = Duration::from_millis(10);

/// A start that takes longer than this is reported. The usual cause is recovery after a crash.
const REPORT_AFTER: Duration = Duration::from_secs(2);

/// How long to wait for the backends of a killed server. They exit soon, but until then their shared memory blocks a
/// start.
const ORPHAN_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a fast shutdown may take; it writes a checkpoint, which is slow on a slow disk.
const FAST_STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// How long an immediate shutdown may take. It skips the checkpoint, which is safe, because the next start recovers.
const IMMEDIATE_STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The number of log lines that an error quotes.
const QUOTED_LINES: usize = 12;

/// Starts the server and waits until it accepts connections.
pub(crate) fn start(
    cluster: &Cluster,
    runtime: &Runtime,
    account: &Account,
    socket_dir: &Path,
    progress: &dyn Progress,
) -> Result<(Postmaster, Child), PostgresError> {
    let begun = Instant::now();
    loop {
        postmaster::clear_leftovers(cluster, socket_dir)?;
        let mut child = spawn(cluster, runtime, account)?;
        let pid = child.id() as i32;
        let alive = || child.try_wait().is_ok_and(|status| status.is_none());
        if let Some(postmaster) = await_ready(cluster, pid, alive, progress) {
            return Ok((postmaster, child));
        }
        let (log, tail) = log_tail(cluster);
        if tail.contains("shared memory block") && begun.elapsed() < ORPHAN_TIMEOUT {
            tracing::info!("waiting for the backends of the killed server to exit");
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        if tail.contains("No space left on device") {
            return Err(PostgresError::DiskFull {
                path: cluster.dir.clone(),
                detail: "PostgreSQL cannot write".into(),
            });
        }
        return Err(PostgresError::Startup { log, cluster: cluster.dir.clone(), tail });
    }
}

fn spawn(cluster: &Cluster, runtime: &Runtime, account: &Account) -> Result<Child, PostgresError> {
    let log = startup_log(cluster);
    let file = File::create(&log).path_context("write", &log)?;
    let also = file.try_clone().path_context("write", &log)?;
    let program = runtime.bin_dir.join("postgres");
    let mut command = account.command(&program);
    command.arg("-D").arg(&cluster.dir).stdout(file).stderr(also);
    // A separate process group, because ctrl-c must reach only butler, which then shuts the server down properly.
    command.process_group(0);
    command.spawn().path_context("run", &program)
}

/// Waits until the server is ready. There is no timeout while the process lives, because recovery can take long.
pub(crate) fn await_ready(
    cluster: &Cluster,
    pid: i32,
    mut alive: impl FnMut() -> bool,
    progress: &dyn Progress,
) -> Option<Postmaster> {
    const WHAT: &str = "PostgreSQL: starting (recovering after a crash, if there was one)";
    let begun = Instant::now();
    let mut reported = 0;
    let ready = loop {
        match postmaster::state(cluster) {
            State::Up(found) if found.pid == pid && found.phase == Phase::Ready => break Some(found),
            _ if !alive() => break None,
            _ => {}
        }
        let seconds = begun.elapsed().as_secs();
        if begun.elapsed() > REPORT_AFTER && seconds > reported {
            if reported == 0 {
                progress.start(WHAT, None);
            }
            progress.at(seconds);
            reported = seconds;
        }
        std::thread::sleep(POLL);
    };
    if reported > 0 {
        progress.finish(WHAT);
    }
    ready
}

/// Shuts the server down and waits until its process has ended.
pub(crate) fn stop(cluster: &Cluster, mut child: Option<Child>) -> Result<(), PostgresError> {
    let State::Up(postmaster) = postmaster::state(cluster) else { return Ok(()) };
    for (signal, timeout) in [(Signal::INT, FAST_STOP_TIMEOUT), (Signal::QUIT, IMMEDIATE_STOP_TIMEOUT)] {
        if !postmaster::signal(&postmaster, cluster, signal) {
            tracing::warn!(pid = postmaster.pid, "the server cannot be signalled; it keeps running");
            return Ok(());
        }
        let begun = Instant::now();
        while begun.elapsed() < timeout {
            // Without `try_wait` the process would stay a zombie.
            let reaped = child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_))));
            if reaped || !postmaster::serves(postmaster.pid, &cluster.dir) {
                return Ok(());
            }
            std::thread::sleep(POLL);
        }
        tracing::warn!(pid = postmaster.pid, ?signal, "the server has not stopped yet");
    }
    Err(PostgresError::WontStop { pid: postmaster.pid, log: cluster.log_dir.clone() })
}

fn startup_log(cluster: &Cluster) -> PathBuf {
    cluster.log_dir.join("startup.log")
}

/// The last lines of the server's output: from its standard error or, after it has opened its own log, from the newest
/// log.
fn log_tail(cluster: &Cluster) -> (PathBuf, String) {
    let startup = startup_log(cluster);
    let files = fs::read_dir(&cluster.log_dir).into_iter().flatten().flatten();
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    let newest = files
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("postgres-")))
        .max_by_key(age);
    let redirected = read_lossy(&startup).contains("redirecting log output");
    let log = if redirected { newest.unwrap_or(startup) } else { startup };
    let text = read_lossy(&log);
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n");
    (log, tail)
}

fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
