//! The command line of Butler Memory. ARCHITECTURE.md has the map.

pub mod cli;
pub mod demo;
pub mod logging;
pub mod printer;
pub mod progress;
pub mod reference;
mod visible;
