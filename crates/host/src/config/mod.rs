//! The configuration file `butler.toml`: its settings, their defaults, and errors that point to the line.

mod backup;
mod diagnostic;
mod file;
mod locate;
pub mod mask;
mod parse;
mod roster;
mod secrets;
mod server;
pub mod show;
mod telemetry;

pub use backup::BackupSection;
pub use diagnostic::ConfigError;
pub use file::{ButlerSection, DatabaseSection, File, ModulesSection, RuntimeSection, RuntimeType, SessionSection};
pub use parse::parse;
pub use roster::{ButlerConfig, DEFAULT_NAME, Source, load, load_all};
pub use secrets::redactor;
pub use server::{ServerSection, server};
pub use telemetry::{TelemetrySection, telemetry};
