//! The tools over MCP.

mod handler;
pub mod http;
pub mod stdio;

pub use handler::Handler;
