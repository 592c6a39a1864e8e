//! Everything a butler process needs besides the network: butlers and their modules, configuration, access rules,
//! schedules, sessions, LLM runtimes and backups. ARCHITECTURE.md has the map.

pub mod access;
pub mod backup;
pub mod butler;
pub mod config;
pub mod descriptors;
mod duration;
pub mod env;
pub mod error;
pub mod host;
pub mod instance;
mod loopback;
pub mod metrics;
pub mod module;
pub mod modules;
pub mod oauth;
pub mod outbound;
pub mod profile;
pub mod runtime;
pub mod scheduler;
pub mod session;
mod shifted_clock;
pub mod spool;
pub mod supervisor;
pub mod telemetry;
