//! A server without pgvector: the system's own PostgreSQL, where there is one that lacks it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use butler_store::{Database, DatabaseOptions, StoreError};

/// The programs of a PostgreSQL that lacks pgvector.
fn without_vector() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    versions.flatten().map(|version| version.path()).find_map(|home| {
        let version = home.file_name()?.to_owned();
        let control = Path::new("/usr/share/postgresql").join(version).join("extension/vector.control");
        let bin = home.join("bin");
        (bin.join("initdb").exists() && !control.exists()).then_some(bin)
    })
}

/// PostgreSQL refuses to run as root, so root lends it the account that came with the packages.
fn command(program: &Path, dir: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program).current_dir(dir);
    command
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

fn run(mut command: Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Stops the server however the test ends.
struct Server {
    bin: PathBuf,
    data: PathBuf,
    dir: tempfile::TempDir,
}

impl Server {
    fn start(bin: PathBuf) -> Self {
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let data = dir.path().join("data");
        if is_root() {
            let mut chown = Command::new("chown");
            chown.arg("postgres").arg(dir.path());
            run(chown);
        }
        let mut init = command(&bin.join("initdb"), dir.path());
        init.args(["--username=postgres", "--auth=trust", "--no-sync", "-D"]).arg(&data);
        run(init);
        let mut start = command(&bin.join("pg_ctl"), dir.path());
        let options = format!("-c listen_addresses= -c unix_socket_directories='{}'", dir.path().display());
        start.args(["start", "--wait", "-D"]).arg(&data).arg("-l").arg(dir.path().join("log")).args(["-o", &options]);
        // a pipe would stay open as long as the server runs
        assert!(start.stdout(std::process::Stdio::null()).status().unwrap().success(), "{start:?}");
        Self { bin, data, dir }
    }

    fn url(&self) -> String {
        format!("postgres://postgres@localhost/postgres?host={}", self.dir.path().display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = command(&self.bin.join("pg_ctl"), self.dir.path());
        let _ = stop.args(["stop", "--mode=immediate", "-D"]).arg(&self.data).output();
    }
}

#[tokio::test]
async fn pgvector_missing_is_a_clear_error() {
    let Some(bin) = without_vector() else {
        println!("skipped: this machine has no system PostgreSQL without pgvector");
        return;
    };
    let server = Server::start(bin);
    let error = Database::connect(DatabaseOptions::new(server.url())).await.unwrap_err();
    assert!(matches!(error, StoreError::VectorMissing { .. }), "{error}");
    assert!(error.to_string().contains("pgvector"), "{error}");
    assert!(error.hint().unwrap().contains("CREATE EXTENSION vector"));
}
