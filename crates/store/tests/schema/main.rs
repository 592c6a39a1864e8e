//! The schema and the SQL functions: what they are, how they are applied, and what is made from them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adoption;
mod catalogue;
mod describe;
mod events;
mod families;
mod functions;
mod reference;
