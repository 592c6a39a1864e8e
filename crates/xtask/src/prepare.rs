//! `cargo xtask prepare`: the committed description of each checked SQL statement, renewed against a real database.
//!
//! It does what `cargo sqlx prepare` does, without that tool: a database that psql fills from `schema/` and `functions/`
//! (the store itself may not compile yet, since its new statements have no description), and a compilation that writes
//! what it learns to `.sqlx`. Then it renews `functions/REVISION` and `docs/schema.md`, which are made from the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::run::{cargo, root, step, target_dir};
use crate::server::TestServer;

const DATABASE: &str = "butler_prepare";

pub fn run() -> anyhow::Result<()> {
    let server = TestServer::start(&["--package", "butler-postgres"], &target_dir().join("test-postgres"))?;
    let recreate = format!("DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)");
    psql(&server, &server.url, &["-c", &recreate, "-c", &format!("CREATE DATABASE {DATABASE}")], "a fresh database")?;
    let url = server.url.replacen("/postgres?", &format!("/{DATABASE}?"), 1);
    // A function may call one of a later file.
    let mut arguments =
        vec!["-c".to_owned(), extensions(), "-c".to_owned(), "SET check_function_bodies = off".to_owned()];
    for file in sql_files("schema")?.into_iter().chain(sql_files("functions")?) {
        arguments.extend(["-f".to_owned(), file.display().to_string()]);
    }
    psql(&server, &url, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), "tables and functions")?;

    let data = root().join(".sqlx");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    fs::create_dir_all(&data)?;
    touch(&root().join("crates/store/src/lib.rs"))?;
    step(
        "describe the statements",
        cargo()
            .args(["check", "--package", "butler-store", "--all-targets"])
            .env("SQLX_OFFLINE", "false")
            .env("SQLX_OFFLINE_DIR", &data)
            .env("DATABASE_URL", &url),
    )?;
    step(
        "renew what is made from the database",
        cargo()
            .args(["test", "--package", "butler-store", "--test", "schema", "reference"])
            .env("BUTLER_UPDATE_DOCS", "1"),
    )
}

fn extensions() -> String {
    ["vector", "uuid-ossp", "pg_trgm"]
        .map(|name| format!("CREATE EXTENSION IF NOT EXISTS \"{name}\" WITH SCHEMA public;"))
        .join(" ")
}

fn sql_files(folder: &str) -> anyhow::Result<Vec<PathBuf>> {
    let folder = root().join("crates/store").join(folder);
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}

fn psql(server: &TestServer, url: &str, arguments: &[&str], what: &str) -> anyhow::Result<()> {
    let mut psql = Command::new(server.bin_dir.join("psql"));
    step(what, psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url]).args(arguments))
}

/// The compiler looks at modification times only; what is described must be compiled again.
fn touch(path: &Path) -> anyhow::Result<()> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
