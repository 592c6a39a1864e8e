//! see ARCHITECTURE.md

pub mod runtime;
