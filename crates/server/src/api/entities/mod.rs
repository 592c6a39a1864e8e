//! Entities: who and what facts are about.

pub mod detail;
pub mod list;
pub mod merge;
