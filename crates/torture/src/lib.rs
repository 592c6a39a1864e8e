//! The part of the torture test that other crates' tests use.

pub mod disk;
