//! Killed servers and processes, stale and reused pids, unusual paths, rejected data.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Hold, pid_file, psql, signal, start, try_psql, up};
use rustix::process::Signal;

/// Writes rows that the server acknowledges and that must survive any kill.
fn write_rows(url: &str, bin_dir: &Path) {
    let sql = "CREATE TABLE t AS SELECT n FROM generate_series(1, 20000) n";
    try_psql(bin_dir, url, sql).unwrap();
}

#[tokio::test]
async fn a_killed_server_is_restarted_with_all_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path()).await.unwrap();
    write_rows(&server.url("postgres"), server.bin_dir());
    let before = server.pid();
    server.ensure_running().await.unwrap();
    assert_eq!(server.pid(), before, "a living server is left alone");
    signal(before, Signal::KILL);
    let begun = Instant::now();
    server.ensure_running().await.unwrap();
    println!("recovered in {:?}", begun.elapsed());
    assert_eq!(psql(&server, "SELECT count(*) FROM t"), "20000");
    server.stop().await.unwrap();
    assert!(!up(dir.path()));
}

#[tokio::test]
async fn the_server_of_a_killed_process_is_adopted_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let hold = Hold::start(dir.path());
    let pid = hold.pid;
    hold.kill();
    let server = start(dir.path()).await.unwrap();
    assert_eq!(server.pid(), pid);
    server.stop().await.unwrap();
    assert!(!up(dir.path()), "it does not wait for the killed process");
}

#[tokio::test]
async fn after_server_and_process_are_killed_the_next_start_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let hold = Hold::start(dir.path());
    let server = start(dir.path()).await.unwrap();
    write_rows(&hold.url, server.bin_dir());
    // First the postmaster, then its children.
    let children = children_of(hold.pid);
    signal(hold.pid, Signal::KILL);
    for child in children {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(child).unwrap(), Signal::KILL);
    }
    hold.kill();
    drop(server);
    assert!(pid_file(dir.path()).is_file(), "no process was left to remove it");
    let server = start(dir.path()).await.unwrap();
    assert_eq!(psql(&server, "SELECT count(*) FROM t"), "20000");
    server.stop().await.unwrap();
}

fn children_of(pid: i32) -> Vec<i32> {
    let tasks = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    tasks.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[tokio::test]
async fn a_reused_pid_is_not_mistaken_for_the_server() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    let other_dir = tempfile::tempdir().unwrap();
    let other = start(other_dir.path()).await.unwrap();
    // This test's process and the server of another data directory: both are alive, but neither is the right server.
    for pid in [std::process::id() as i32, other.pid()] {
        let run = dir.path().join("run");
        let text = format!("{pid}\n{}\n1700000000\n5432\n{}\n\n  1 1\nready   \n", dir.path().display(), run.display());
        fs::write(pid_file(dir.path()), text).unwrap();
        fs::write(run.join(".s.PGSQL.5432.lock"), format!("{pid}\n")).unwrap();
        assert!(!up(dir.path()));
        let server = start(dir.path()).await.unwrap();
        assert_ne!(server.pid(), pid);
        assert_eq!(psql(&server, "SELECT 1"), "1");
        server.stop().await.unwrap();
    }
    assert!(up(other_dir.path()), "the other server was left alone");
    other.stop().await.unwrap();
}

#[tokio::test]
async fn an_interrupted_initdb_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let half = dir.path().join("postgres.new");
    fs::create_dir_all(half.join("base")).unwrap();
    fs::write(half.join("PG_VERSION"), "18\n").unwrap();
    let server = start(dir.path()).await.unwrap();
    assert_eq!(psql(&server, "SELECT 1"), "1");
    assert!(!half.exists());
    server.stop().await.unwrap();
}

#[tokio::test]
async fn a_data_path_with_spaces_quotes_and_non_ascii_letters_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("Jörg's dätä, \"日本\" $HOME `x` +&%");
    let server = start(&path).await.unwrap();
    assert_eq!(psql(&server, "SELECT 1"), "1");
    server.stop().await.unwrap();
    assert!(!up(&path));
}

#[tokio::test]
async fn a_very_long_data_path_gets_a_short_private_socket_directory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long-".repeat(20)).join("ä".repeat(60));
    let server = start(&path).await.unwrap();
    let socket_dir = server.socket_dir().to_path_buf();
    assert!(!socket_dir.starts_with(dir.path()));
    assert_eq!(psql(&server, "SELECT 1"), "1");
    let second = start(&path).await.unwrap();
    assert_eq!(second.socket_dir(), socket_dir, "every process computes the same path");
    second.stop().await.unwrap();
    server.stop().await.unwrap();
    assert!(!socket_dir.exists(), "nothing is left behind");
}

#[tokio::test]
async fn a_deleted_socket_is_recreated() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path()).await.unwrap();
    fs::remove_file(server.socket_dir().join(".s.PGSQL.5432")).unwrap();
    server.ensure_running().await.unwrap();
    assert_eq!(psql(&server, "SELECT 1"), "1");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn data_of_another_major_version_is_rejected_with_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    fs::write(dir.path().join("postgres/PG_VERSION"), "11\n").unwrap();
    let error = start(dir.path()).await.err().unwrap().to_string();
    assert!(error.contains("PostgreSQL 11") && error.contains("postgresql-11-pgvector"), "{error}");
}

#[tokio::test]
async fn a_directory_that_is_not_a_cluster_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("postgres")).unwrap();
    fs::write(dir.path().join("postgres/letter.txt"), "dear").unwrap();
    let error = start(dir.path()).await.err().unwrap().to_string();
    assert!(error.contains("no PG_VERSION") && error.contains("--data-dir"), "{error}");
    assert!(dir.path().join("postgres/letter.txt").is_file());
}

#[tokio::test]
async fn the_error_of_a_failed_start_quotes_the_log() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    fs::write(dir.path().join("postgres/custom.conf"), "no_such_setting = 1\n").unwrap();
    let begun = Instant::now();
    let error = start(dir.path()).await.err().unwrap().to_string();
    assert!(error.contains("no_such_setting") && error.contains("custom.conf"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(50), "it is not waited for");
}

#[tokio::test]
async fn a_missing_password_file_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    start(dir.path()).await.unwrap().stop().await.unwrap();
    fs::remove_file(dir.path().join("postgres.password")).unwrap();
    let error = start(dir.path()).await.err().unwrap().to_string();
    assert!(error.contains("postgres.password"), "{error}");
}
