//! Consolidation against a real database, with a scripted model.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cleanup;
mod concurrency;
mod dates;
mod failures;
mod injection;
mod judge;
mod kill;
mod pipeline;
mod prompts;
mod trust;
mod world;
