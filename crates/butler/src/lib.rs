//! The host: configuration, modules, MCP over HTTP and stdio, health and metrics, and the command line.
//! ARCHITECTURE.md draws the map.

pub mod access;
pub mod api;
pub mod backup;
pub mod butler;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod demo;
pub mod env;
pub mod error;
pub mod host;
pub mod http;
pub mod instance;
pub mod logging;
pub mod mcp;
pub mod metrics;
pub mod module;
pub mod modules;
pub mod outbound;
pub mod printer;
pub mod progress;
pub mod reference;
pub mod runtime;
pub mod scheduler;
pub mod session;
pub mod supervisor;
pub mod telemetry;
