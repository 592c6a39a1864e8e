//! Entities: the people and things that facts are about.

pub mod detail;
pub mod duplicates;
pub mod edit;
pub mod forget;
pub mod graph;
pub mod list;
pub mod merge;
pub mod neighbors;
pub mod unmerge;
