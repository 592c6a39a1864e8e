//! Backups of a butler's whole home with PostgreSQL's own tools, each with a note of what it holds.

mod create;
mod files;
mod job;
mod script;
pub(crate) mod tools;

use butler_domain::Timestamp;
use butler_store::backup::Contents;
use serde::{Deserialize, Serialize};

pub use create::Source;
pub use files::{Stored, list, named, prune};
pub use job::{JOB, Scheduled};

/// The schema of a butler that has a database to itself.
pub(crate) const WHOLE: &str = "public";

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
