//! Test helpers for all crates: a shared PostgreSQL, a fresh database per test, a fake embedder, and a memory with a
//! mock clock.

mod db;
mod embedder;
mod fixture;
pub mod planted;
mod server;

pub use db::TestDb;
pub use embedder::FakeEmbedder;
pub use fixture::{MemoryFixture, START};
pub use server::TestServer;
