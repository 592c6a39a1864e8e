//! Everything a tenant owns as a file, and back: our own lines in full, other programs' memories as facts.

mod error;
mod export;
mod foreign;
mod import;
mod record;
mod report;

use serde::{Deserialize, Serialize};

pub use error::TransferError;
pub use export::{ExportReport, Header};
pub use foreign::{Foreign, Source, recognise};
pub use import::ImportOptions;
pub use record::Line;
pub use report::{ImportReport, Problem, Tally};

/// The first line of our own files says this.
pub const FORMAT: &str = "butler-memory";
/// Raised when a reader of the version before could misunderstand the file.
pub const VERSION: u32 = 1;

/// Which model the vectors of a file are of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelName {
    pub model: String,
    pub version: String,
    pub dimensions: usize,
}
