//! The flags of a command that works on the butlers of a running server.

use std::path::Path;

use super::HostOptions;
use crate::config::Source;

impl HostOptions {
    /// The flags with which another command, started in any directory, works on the same butlers. A database URL may
    /// contain a password, so it is left out.
    pub fn cli_flags(&self) -> String {
        let flag = |name: &str, path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            format!(" --{name} '{}'", path.display().to_string().replace('\'', "'\\''"))
        };
        let source = match &self.source {
            Source::File(file) => flag("config", file),
            Source::Roster(dir) => flag("roster", dir),
            Source::Defaults => String::new(),
        };
        flag("data-dir", &self.data_dir) + &source
    }
}
