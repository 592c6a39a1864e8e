//! Tests of the real server.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod accounts;
mod common;
mod lifecycle;
mod trouble;
