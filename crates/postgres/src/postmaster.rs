//! The state of the server according to its pid file and the process table.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal};

use crate::cluster::Cluster;
use crate::error::{PathContext, PostgresError};
use crate::socket;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Down,
    Up(Postmaster),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Postmaster {
    pub pid: i32,
    pub socket_dir: PathBuf,
    pub phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Starting,
    Ready,
    Stopping,
}

/// A process id that no system assigns.
const NO_PID: &str = "2147483646";

fn pid_file(cluster: &Cluster) -> PathBuf {
    cluster.dir.join("postmaster.pid")
}

/// Lines: pid, data directory, start time, port, socket directory, address, shared memory, status.
fn parse(text: &str) -> Option<Postmaster> {
    let mut lines = text.lines();
    let pid = lines.next()?.trim().parse().ok().filter(|pid| *pid > 0)?;
    let socket_dir = PathBuf::from(lines.nth(3).unwrap_or_default());
    let phase = match lines.nth(2).map(str::trim) {
        Some("ready") => Phase::Ready,
        Some("stopping") => Phase::Stopping,
        _ => Phase::Starting,
    };
    Some(Postmaster { pid, socket_dir, phase })
}

/// The state of this cluster's server, regardless of who started it.
pub(crate) fn state(cluster: &Cluster) -> State {
    let Some(postmaster) = fs::read_to_string(pid_file(cluster)).ok().as_deref().and_then(parse) else {
        return State::Down;
    };
    // The socket also shows a server in another pid namespace, whose process is not visible here.
    let up = serves(postmaster.pid, &cluster.dir) || socket::answers(&postmaster.socket_dir);
    if up { State::Up(postmaster) } else { State::Down }
}

/// Whether the process is the PostgreSQL of this cluster, and not another program that got the same id later.
pub(crate) fn serves(pid: i32, cluster: &Path) -> bool {
    if cfg!(target_os = "linux") {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let args: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        // The command line of a zombie process is empty.
        let is_postgres = args.first().is_some_and(|program| program.ends_with(b"postgres"));
        let dir = args.iter().position(|arg| *arg == b"-D").and_then(|at| args.get(at + 1));
        let named = dir.is_some_and(|dir| same(Path::new(&*String::from_utf8_lossy(dir)), cluster));
        return is_postgres && (named || same(Path::new(&format!("/proc/{pid}/cwd")), cluster));
    }
    let out = std::process::Command::new("ps").args(["-ww", "-p", &pid.to_string(), "-o", "command="]).output();
    let line = out.map(|out| String::from_utf8_lossy(&out.stdout).into_owned()).unwrap_or_default();
    line.contains("postgres") && line.contains(&*cluster.to_string_lossy())
}

fn same(a: &Path, b: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    id(a).is_some_and(|a| Some(a) == id(b))
}

/// Cleans up the pid file and the socket of a dead server. Requires the start lock and the state `Down`.
///
/// PostgreSQL refuses to start if the process in its pid file exists, even if it is another program by now. The file is
/// not deleted, because PostgreSQL uses it to find shared memory that an orphaned backend may still use. Only the
/// process id in it is replaced by one that cannot exist.
pub(crate) fn clear_leftovers(cluster: &Cluster, socket_dir: &Path) -> Result<(), PostgresError> {
    let file = pid_file(cluster);
    if let Ok(text) = fs::read_to_string(&file) {
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        tracing::info!(pid = text.lines().next().unwrap_or_default(), "found the pid file of a dead server");
        // Overwritten in place, which keeps its owner and mode and also works on a full disk.
        overwrite(&file, &format!("{NO_PID}\n{rest}")).path_context("write", &file)?;
    }
    let socket = socket::file_in(socket_dir);
    for leftover in [socket.with_added_extension("lock"), socket] {
        match fs::remove_file(&leftover) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).path_context("remove", &leftover);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Overwrites a file without truncating it first. If the write failed on an empty file, the reference to the shared
/// memory would be lost.
fn overwrite(file: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::File::options().write(true).open(file)?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// Sends a signal if the process is still the cluster's server.
pub(crate) fn signal(postmaster: &Postmaster, cluster: &Cluster, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(postmaster.pid) else { return false };
    serves(postmaster.pid, &cluster.dir) && rustix::process::kill_process(pid, signal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "4711\n/data/postgres\n1700000000\n5432\n/data/run\n\n  123456  98765\nready   \n";

    #[test]
    fn a_pid_file_is_read_in_every_phase() {
        let ready = parse(FILE).unwrap();
        assert_eq!((ready.pid, ready.phase), (4711, Phase::Ready));
        assert_eq!(ready.socket_dir, Path::new("/data/run"));
        assert_eq!(parse(&FILE.replace("ready   ", "stopping")).unwrap().phase, Phase::Stopping);
        assert_eq!(parse("4711\n/data/postgres\n").unwrap().phase, Phase::Starting);
        for broken in ["", "x\n", "-1\n", "0\n"] {
            assert_eq!(parse(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn a_process_that_is_not_postgres_does_not_serve_the_cluster() {
        let me = std::process::id() as i32;
        assert!(!serves(me, Path::new("/")), "this test");
        assert!(!serves(2_147_483_646, Path::new("/")), "nobody");
    }
}
