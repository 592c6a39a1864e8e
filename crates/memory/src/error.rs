use butler_domain::validate::Invalid;
use butler_domain::{EntityId, MemoryType};
use uuid::Uuid;

/// Why a use case failed. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("there is no {memory_type} with id {id}")]
    NotFound { memory_type: MemoryType, id: Uuid },
    #[error("there is no {memory_type} whose id ends with {end}")]
    NoReference { memory_type: MemoryType, end: String },
    #[error("there is no entity with id {id}")]
    NoEntity { id: EntityId },
    /// There is no conflict or proposal with that id.
    #[error("there is no {what} with id {id}")]
    NotListed { what: &'static str, id: Uuid },
    /// What the call would create exists already.
    #[error("{message}")]
    Conflict { message: String, hint: String },
    /// The memory exists, but its state does not allow the change.
    #[error("{message}")]
    InvalidState { message: String, hint: String },
    /// The memory is superseded, expired, retracted or forgotten, and the change needs one that is remembered.
    #[error("{memory_type} {id} is {state}, so it cannot be {done}")]
    Gone { memory_type: MemoryType, id: Uuid, state: String, done: &'static str },
    #[error("idempotency_key {key:?} was used before, for a call of {tool} with other arguments")]
    KeyReused { key: String, tool: String },
    /// A job that deletes or expires memories waits, because the clock may be wrong.
    #[error("the time is in doubt, so nothing is deleted or expired: {reason}")]
    ClockInDoubt { reason: String },
    #[error("a bug in the program; the log has the details")]
    Panicked,
    #[error(transparent)]
    Store(#[from] butler_store::StoreError),
    #[error(transparent)]
    Embed(#[from] butler_embed::EmbedError),
}

impl MemoryError {
    /// Whether the database is unavailable, so that a later attempt may succeed.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unavailable())
    }
}

/// The hint for a clock that may be wrong.
pub const CLOCK_HINT: &str =
    "set the clock right, wait until it has been steady for an hour, or accept it with `butler jobs accept-clock`";
