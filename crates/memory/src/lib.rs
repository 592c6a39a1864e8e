//! The Memory module: use cases and MCP tools.

pub mod config;

pub use config::MemoryConfig;
