//! The tools over MCP.

mod handler;
pub mod http;
mod instructions;
pub mod stdio;

pub use handler::Handler;
