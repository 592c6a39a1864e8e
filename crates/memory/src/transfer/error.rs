use std::io;

use crate::MemoryError;

/// Why a file was not written or not taken.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("the file cannot be read or written: {0}")]
    Io(#[from] io::Error),
    #[error("this is no export of butler: {0}")]
    NotOurs(String),
    #[error("the file is of version {found}; this program reads up to version {known}")]
    Newer { found: u32, known: u32 },
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
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotOurs(_) => Some("name what it is with --format: mem0, mcp-memory or claude-code"),
            Self::Newer { .. } => Some("import it with the newer butler that wrote it, or upgrade this one"),
            Self::LongLine { .. } => Some("no memory is that long: the file is damaged"),
            Self::Memory(_) | Self::Io(_) => None,
        }
    }
}
