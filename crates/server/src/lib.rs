//! The network side of Butler Memory: MCP, the REST API, the dashboard, health checks and metrics. ARCHITECTURE.md has
//! the map.

pub mod api;
pub mod client;
pub mod dashboard;
pub mod http;
pub mod mcp;
mod oauth;
mod router;

pub use router::router;
