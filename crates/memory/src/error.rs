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
    /// The memory is there, but not in a state that allows it.
    #[error("{message}")]
    InvalidState { message: String, hint: String },
    #[error("idempotency_key {key:?} was used before, for a call of {tool} with other arguments")]
    KeyReused { key: String, tool: String },
    #[error(transparent)]
    Store(#[from] store::StoreError),
    #[error(transparent)]
    Embed(#[from] embed::EmbedError),
}
