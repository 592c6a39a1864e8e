//! `butler backup restore` is killed in the middle: what it leaves behind is named by `doctor` and removed.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, PgConnection};

use crate::program::{Serving, butler, eventually, foreign_database, stderr, stdout};

const SOON: Duration = Duration::from_secs(60);

/// A data directory and the options of its butler.
struct Place {
    data: PathBuf,
    options: Vec<String>,
}

impl Place {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = butler();
        command.args(args).args(&self.options).arg("--data-dir").arg(&self.data).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn serve(&self) -> Serving {
        Serving::with(&self.data, &self.options.iter().map(AsRef::as_ref).collect::<Vec<_>>())
    }

    /// Stores a fact, backs it up and stores another. Returns the backup.
    fn prepare(&self) -> Dump {
        let server = self.serve();
        learn(&server, "sky");
        let created = self.run(&["backup", "create", "--json"]);
        let created: Value = serde_json::from_str(&stdout(&created)).unwrap_or_else(|_| panic!("{}", stderr(&created)));
        learn(&server, "sea");
        server.stop();
        let text = |key: &str| created[key].as_str().unwrap().to_owned();
        Dump { name: text("name"), path: text("path").into() }
    }

    fn start_restore(&self, backup: &str) -> Child {
        let mut command = self.command(&["backup", "restore", backup, "--yes"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// What `doctor` says about an interrupted restore.
    fn diagnosis(&self) -> Option<String> {
        let report = self.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&stdout(&report)).unwrap_or_else(|_| panic!("{}", stderr(&report)));
        let mut details = report["checks"].as_array().unwrap().iter().filter_map(|check| check["detail"].as_str());
        details.find(|detail| detail.contains("an interrupted restore")).map(str::to_owned)
    }

    fn partial_dumps(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.data.join("backups/general")).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "part")).collect()
    }
}

struct Dump {
    name: String,
    path: PathBuf,
}

impl Dump {
    /// Replaces the dump by a pipe, so that a restore waits for its first byte.
    fn withhold(&self) {
        std::fs::rename(&self.path, self.path.with_extension("kept")).unwrap();
        mknodat(CWD, &self.path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    }

    /// Waits until a restore reads the pipe. It goes on waiting for data until the result is dropped.
    fn reader_arrives(&self) -> File {
        let mut options = File::options();
        // Opening the pipe fails while nobody reads it.
        let open = options.write(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        eventually(SOON, "the restore reads the dump", || open.open(&self.path).ok())
    }

    fn give_back(&self) {
        std::fs::rename(self.path.with_extension("kept"), &self.path).unwrap();
    }
}

fn learn(server: &Serving, subject: &str) {
    server.mcp().call("memory_store_fact", json!({"subject": subject, "predicate": "is", "content": "known"}));
}

fn facts(server: &Serving) -> Value {
    server.mcp().call("memory_stats", json!({}))["facts"]["total"].clone()
}

fn kill(mut restore: Child) {
    assert!(restore.try_wait().unwrap().is_none(), "the restore ended before it was killed");
    restore.kill().unwrap();
    restore.wait().unwrap();
}

/// A session of the owner role. What it locks stays locked until it is dropped.
struct OwnerSession {
    runtime: tokio::runtime::Runtime,
    connection: PgConnection,
}

impl OwnerSession {
    fn open(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options: sqlx::postgres::PgConnectOptions = url.trim().parse().unwrap();
        let connection = runtime.block_on(options.connect()).unwrap();
        Self { runtime, connection }
    }

    fn execute(&mut self, statement: &'static str) {
        self.runtime.block_on(sqlx::raw_sql(statement).execute(&mut self.connection)).unwrap();
    }

    fn names(&mut self, query: &'static str) -> Vec<String> {
        self.runtime.block_on(sqlx::query_scalar(query).fetch_all(&mut self.connection)).unwrap()
    }

    fn close(self) {
        self.runtime.block_on(self.connection.close()).unwrap();
    }
}

/// The databases of restores and verifications.
fn scratch_databases(url: &str) -> Vec<String> {
    let mut session = OwnerSession::open(url);
    let names =
        session.names("SELECT datname::text FROM pg_database WHERE datname ~ '_(verify|restore|before)_[0-9]+$'");
    session.close();
    names
}

#[test]
fn what_a_killed_restore_leaves_is_named_by_doctor_and_removed_by_the_next_restore() {
    let dir = tempfile::tempdir().unwrap();
    let (elsewhere, url) = foreign_database(&dir.path().join("elsewhere"), "mine", "CREATE DATABASE mine");
    let place = Place { data: dir.path().join("data"), options: vec!["--database-url".to_owned(), url.clone()] };
    let dump = place.prepare();

    // Killed while it dumps the current state, which waits for the lock of a table.
    let mut session = OwnerSession::open(&url);
    session.execute("BEGIN; LOCK TABLE words IN ACCESS EXCLUSIVE MODE");
    let restore = place.start_restore(&dump.name);
    let waiting = "SELECT pid::text FROM pg_locks WHERE relation = 'words'::regclass AND NOT granted";
    eventually(SOON, "the dump waits for the table", || session.names(waiting).pop());
    assert_eq!(place.partial_dumps().len(), 1);
    kill(restore);
    session.close();
    let part = place.partial_dumps().pop().expect("a killed process cannot remove its dump");
    let named = place.diagnosis().expect("doctor names the dump");
    assert!(named.contains(&part.display().to_string()), "{named}");

    // Killed while it fills a new database.
    dump.withhold();
    let restore = place.start_restore(&dump.name);
    let pipe = dump.reader_arrives();
    assert!(!part.exists(), "the next restore removes the dump");
    let left = scratch_databases(&url);
    assert!(left.len() == 1 && left[0].starts_with("mine_restore_"), "{left:?}");
    assert_eq!(place.diagnosis(), None, "a restore that is in progress left nothing");
    let refused = place.run(&["backup", "verify"]);
    assert!(!refused.status.success() && stderr(&refused).contains("in progress"), "{}", stderr(&refused));
    kill(restore);
    drop(pipe);
    assert_eq!(scratch_databases(&url), left, "a killed process cannot drop its database");
    // PostgreSQL releases the lock of the killed process when it finds its connection closed.
    let named = eventually(SOON, "doctor names the database", || place.diagnosis());
    assert!(named.contains(&left[0]), "{named}");

    dump.give_back();
    let restored = place.run(&["backup", "restore", &dump.name, "--yes"]);
    assert!(restored.status.success(), "{}", stderr(&restored));
    assert_eq!(scratch_databases(&url), [""; 0]);
    assert_eq!((place.partial_dumps(), place.diagnosis()), (Vec::new(), None));
    let server = place.serve();
    assert_eq!(facts(&server), 1);
    drop(server);
    drop(elsewhere);
}

#[test]
fn what_a_killed_restore_leaves_in_the_private_postgresql_is_removed_by_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place { data: dir.path().join("data"), options: Vec::new() };
    let dump = place.prepare();
    dump.withhold();
    let restore = place.start_restore(&dump.name);
    let pipe = dump.reader_arrives();
    let url = stdout(&place.run(&["db", "url"]));
    kill(restore);
    drop(pipe);
    let left = scratch_databases(&url);
    assert!(left.len() == 1 && left[0].starts_with("general_restore_"), "{left:?}");

    let server = place.serve();
    assert_eq!(scratch_databases(&url), [""; 0]);
    assert_eq!(facts(&server), 2, "the restore changed nothing");
}
