//! The tools over MCP.

mod handler;
pub mod http;
mod instructions;
mod prompts;
mod resources;
pub mod stdio;

pub use handler::Handler;
