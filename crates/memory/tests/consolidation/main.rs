//! Consolidation against a real database, with a model that says what the test wants.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cleanup;
mod concurrency;
mod failures;
mod injection;
mod kill;
mod pipeline;
mod world;
