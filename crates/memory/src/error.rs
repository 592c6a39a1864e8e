use domain::MemoryType;
use domain::validate::Invalid;
use uuid::Uuid;

/// Why a use case did nothing.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no {memory_type} with id {id}")]
    NotFound { memory_type: MemoryType, id: Uuid },
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[error(transparent)]
    Embed(#[from] embed::EmbedError),
}
