//! What the tests of all crates share: a PostgreSQL, a fresh database per test, an embedder that costs nothing, a memory
//! whose time stands still.

mod db;
mod embedder;
mod fixture;
mod server;

pub use db::TestDb;
pub use embedder::FakeEmbedder;
pub use fixture::{MemoryFixture, START};
pub use server::TestServer;
