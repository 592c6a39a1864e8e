//! Whether an agent ever connected, for the dashboard's first steps. `butler mcp` and `butler serve` are separate
//! processes, so they share a file in the data directory.

use std::fs;

use butler_domain::Timestamp;

use super::Host;

const FILE: &str = "last-agent";

impl Host {
    /// Records that an agent listed the tools. A read-only data directory must not make the call fail.
    pub fn note_agent(&self) {
        let now = self.clock().now().to_rfc3339();
        if let Err(error) = fs::write(self.data_dir().join(FILE), now) {
            tracing::debug!(%error, "cannot record that an agent connected");
        }
    }

    /// When an agent last listed the tools.
    pub fn agent_seen_at(&self) -> Option<Timestamp> {
        let text = fs::read_to_string(self.data_dir().join(FILE)).ok()?;
        Some(chrono::DateTime::parse_from_rfc3339(text.trim()).ok()?.to_utc())
    }
}
