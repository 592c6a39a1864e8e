//! Backups of a butler's whole home with PostgreSQL's own tools, each with a note of what it holds.

mod create;
mod files;
mod job;
mod restore;
mod script;
mod tools;

use std::path::{Path, PathBuf};

use butler_domain::Timestamp;
use butler_store::backup::Contents;
use serde::{Deserialize, Serialize};

use crate::butler::Butler;
use crate::host::Host;

pub use create::Source;
pub use files::{Stored, list, named, prune};
pub use job::{JOB, Scheduled};
pub use restore::{Replaced, restore, verify};

/// The schema of a butler that has a database to itself.
const WHOLE: &str = "public";

/// What was dumped, written beside the dump: a restore is compared with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub butler: String,
    pub created_at: Timestamp,
    pub program: String,
    pub schema: String,
    #[serde(flatten)]
    pub contents: Contents,
}

/// Where a butler's backups are.
pub fn folder(host: &Host, butler: &Butler) -> PathBuf {
    let config = &butler.config;
    let beside_the_file = |dir: &Path| match config.path.as_deref().and_then(Path::parent) {
        Some(folder) => folder.join(dir),
        None => dir.to_path_buf(),
    };
    let dir = config.file.butler.backup.dir.as_deref().map(beside_the_file);
    dir.unwrap_or_else(|| host.options().data_dir.join("backups")).join(butler.name.as_str())
}
