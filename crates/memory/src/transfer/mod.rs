//! Export and import: everything a tenant owns as a file of JSON lines, and the memories of other programs as facts.

mod error;
mod export;
mod foreign;
mod import;
mod lines;
mod record;
mod report;
mod suppress;

use serde::{Deserialize, Serialize};

pub use error::TransferError;
pub use export::{ExportReport, Header};
pub use foreign::{FileFormat, ForeignFormat, detect_format};
pub use import::ImportOptions;
pub use lines::LineReader;
pub use record::Line;
pub use report::{ImportReport, Problem, Tally};

/// The value of `format` in the header of an export.
pub const FORMAT: &str = "butler-memory";
/// The version of the file format. It increases when an older program would misread the file.
pub const VERSION: u32 = 1;

/// The model that produced the vectors of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelName {
    pub model: String,
    pub version: String,
    pub dimensions: usize,
}
