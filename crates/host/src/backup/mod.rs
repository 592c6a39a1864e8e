//! Backups of a butler's whole database or schema with PostgreSQL's own tools. Each backup has a manifest of its
//! contents.

mod calendar;
mod create;
mod files;
mod job;
mod script;
pub(crate) mod tools;

use butler_domain::Timestamp;
use butler_store::backup::Contents;
use serde::{Deserialize, Serialize};

pub use calendar::BackupCalendar;
pub use create::BackupSource;
pub(crate) use files::abandoned_parts;
pub use files::{Backup, find, list, prune};
pub use job::{BackupJob, JOB};

/// The schema of a butler that has a database of its own, whose backup is a dump of the whole database.
pub(crate) const WHOLE_DATABASE: &str = "public";

/// What a dump contains, stored in a file next to it. A restored backup is compared with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    pub butler: String,
    pub created_at: Timestamp,
    pub program: String,
    pub schema: String,
    #[serde(flatten)]
    pub contents: Contents,
}
