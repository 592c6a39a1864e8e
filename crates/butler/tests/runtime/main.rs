//! The LLM runtimes, tested with real programs and a real HTTP server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
mod endpoint;
mod http;
