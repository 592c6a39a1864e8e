//! Several servers on one database, a replica, failovers, and many butlers. Tests that take minutes are ignored by
//! default; `cargo xtask scaleout` runs them and prints the figures of docs/scaling.md.

mod cluster;
mod failover;
mod many;
mod replica;
mod servers;

use std::path::Path;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

/// Runs a statement directly on the database.
fn sql(url: &str, statement: &str) {
    let _ = rows(url, statement);
}

/// Runs a query and returns the first column of each row as text.
pub fn rows(url: &str, statement: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options: PgConnectOptions = url.trim().parse().unwrap();
        let mut connection = options.connect().await.unwrap_or_else(|error| panic!("{url}: {error}"));
        let rows = sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).fetch_all(&mut connection).await;
        let rows = rows.unwrap_or_else(|error| panic!("{statement}: {error}"));
        connection.close().await.unwrap();
        rows.iter().map(|row| row.try_get::<String, _>(0).unwrap_or_default()).collect()
    })
}

fn write_butler(roster: &Path, butler: &str, toml: &str) {
    std::fs::create_dir_all(roster.join(butler)).unwrap();
    std::fs::write(roster.join(butler).join("butler.toml"), toml).unwrap();
}
