//! `[telemetry]`: where the process exports its traces. One butler.toml of a roster may contain this section.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostic::ConfigError;
use super::roster::ButlerConfig;
use super::server::process_section;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySection {
    /// URL of an OpenTelemetry collector that accepts traces over OTLP/HTTP, for example `http://127.0.0.1:4318`. The
    /// environment variable OTEL_EXPORTER_OTLP_ENDPOINT overrides it. Default: no traces.
    pub otlp_endpoint: Option<String>,
}

/// The `[telemetry]` section of the butler that has one, or the defaults.
pub fn telemetry(butlers: &[ButlerConfig]) -> Result<TelemetrySection, ConfigError> {
    process_section(butlers, "telemetry", |file| &file.telemetry)
}
