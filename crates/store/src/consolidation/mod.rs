//! Consolidation's part of the database: leases on episodes, known memories, and the results.

pub mod actions;
pub mod dead_letters;
pub mod known;
pub mod lease;
pub mod outcome;
