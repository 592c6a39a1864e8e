use std::io;

use crate::MemoryError;

/// Why an export or import failed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("the file cannot be read or written: {0}")]
    Io(#[from] io::Error),
    #[error("the file is not an export of butler: {0}")]
    NotAnExport(String),
    #[error("the file has version {found}; this program reads versions up to {supported}")]
    Newer { found: u32, supported: u32 },
    #[error("these memories belong to tenant {owner:?} of this butler, so another tenant cannot have them too")]
    OtherTenant { owner: String },
    #[error("line {line} is longer than {limit} bytes")]
    LongLine { line: u64, limit: usize },
}

impl From<butler_store::StoreError> for TransferError {
    fn from(error: butler_store::StoreError) -> Self {
        Self::Memory(error.into())
    }
}

impl From<butler_embed::EmbedError> for TransferError {
    fn from(error: butler_embed::EmbedError) -> Self {
        Self::Memory(error.into())
    }
}

impl TransferError {
    /// How to fix the problem, if it is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAnExport(_) => {
                Some("for a file of another program, set --format: mem0, mcp-memory or claude-code")
            }
            Self::Newer { .. } => Some("upgrade this program to at least the version that wrote the file"),
            Self::OtherTenant { .. } => Some("nothing was imported; import the file into another butler"),
            Self::LongLine { .. } => Some("the file is damaged: no memory is that long"),
            Self::Memory(_) | Self::Io(_) => None,
        }
    }
}
