//! The Memory module: use cases and MCP tools.
//!
//! A tool (`tools/`) parses, calls one use case, answers. A use case embeds, takes a session of the tenant and runs the
//! statements of `store`.

mod call;
mod caller;
pub mod config;
mod error;
mod fields;
mod get;
mod memory;
mod remember;
pub mod runtime;
pub mod schedule;
mod stats;
pub mod tool;
mod tools;
pub mod views;

pub use call::Call;
pub use caller::{Caller, CallerTenant};
pub use config::MemoryConfig;
pub use error::MemoryError;
pub use memory::{Memory, MemoryParts};
pub use remember::EpisodeInput;
pub use tools::tools;
