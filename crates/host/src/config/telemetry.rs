//! `[telemetry]`: where the process sends what it observes of itself. It may stand in any butler.toml of a roster, once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnostic::ConfigError;
use super::roster::ButlerConfig;
use super::server::only;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySection {
    /// An OpenTelemetry collector that takes traces (OTLP/HTTP), as in `http://127.0.0.1:4318`. The variable
    /// OTEL_EXPORTER_OTLP_ENDPOINT wins over it; omitted: no traces.
    pub otlp_endpoint: Option<String>,
}

/// The section of whichever butler has it.
pub fn telemetry(butlers: &[ButlerConfig]) -> Result<TelemetrySection, ConfigError> {
    only(butlers, "telemetry", |file| &file.telemetry)
}
