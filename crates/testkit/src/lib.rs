//! What the tests of all crates share: a PostgreSQL, a fresh database per test, an embedder that costs nothing.

mod db;
mod server;

pub use db::TestDb;
pub use server::TestServer;
