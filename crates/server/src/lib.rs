//! What a butler serves over the network: MCP, REST, the dashboard, health and metrics. ARCHITECTURE.md has the map.

pub mod api;
pub mod client;
pub mod dashboard;
pub mod http;
pub mod mcp;
mod router;

pub use router::router;
