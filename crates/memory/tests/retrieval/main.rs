//! Search, recall and context against a real PostgreSQL, one test per scenario of the specification.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod context;
mod deep;
mod paths;
mod ranking;
mod recall;
mod search;
mod statements;
mod tenants;
mod world;
