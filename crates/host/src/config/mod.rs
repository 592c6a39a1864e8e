//! A butler's `butler.toml`: what may stand in it, and what it means when it is not there.

mod backup;
mod diagnostic;
mod file;
mod locate;
pub mod mask;
mod parse;
mod roster;
mod server;
pub mod show;
mod telemetry;

pub use backup::BackupSection;
pub use diagnostic::ConfigError;
pub use file::{ButlerSection, DatabaseSection, File, ModulesSection, RuntimeSection, RuntimeType, SessionSection};
pub use parse::parse;
pub use roster::{ButlerConfig, DEFAULT_NAME, Source, load, load_all};
pub use server::{ServerSection, server};
pub use telemetry::{TelemetrySection, telemetry};
