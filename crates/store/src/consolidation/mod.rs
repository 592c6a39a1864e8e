//! Consolidation's part of the database: who works on which episodes, what is known already, and what became of it.

pub mod actions;
pub mod dead_letters;
pub mod known;
pub mod lease;
pub mod outcome;
