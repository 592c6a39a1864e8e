//! Whether an agent ever connected, for the dashboard's first steps. `butler mcp` is another process than `butler serve`, so
//! they share a file in the data directory.

use std::fs;

use butler_domain::Timestamp;

use super::Host;

const FILE: &str = "last-agent";

impl Host {
    /// Notes that an agent asked for the tools. A data directory that takes no writes must not fail the call.
    pub fn note_agent(&self) {
        let now = self.clock().now().to_rfc3339();
        if let Err(error) = fs::write(self.data_dir().join(FILE), now) {
            tracing::debug!(%error, "cannot note that an agent connected");
        }
    }

    /// When an agent last asked for the tools.
    pub fn agent_seen_at(&self) -> Option<Timestamp> {
        let text = fs::read_to_string(self.data_dir().join(FILE)).ok()?;
        Some(chrono::DateTime::parse_from_rfc3339(text.trim()).ok()?.to_utc())
    }
}
