//! The tools over MCP.

mod handler;
pub mod http;
mod instructions;
pub mod profile;
mod prompts;
mod resources;
pub mod stdio;

pub use handler::Handler;
pub use profile::Profile;
