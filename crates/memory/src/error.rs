use butler_domain::validate::Invalid;
use butler_domain::{EntityId, MemoryType};
use uuid::Uuid;

/// Why a use case did nothing.
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
    /// What was to be made exists.
    #[error("{message}")]
    Conflict { message: String, hint: String },
    /// The memory is there, but not in a state that allows it.
    #[error("{message}")]
    InvalidState { message: String, hint: String },
    /// Superseded, expired, retracted or forgotten: what is to be done needs one that is remembered.
    #[error("{memory_type} {id} is {state}, so it cannot be {done}")]
    Gone { memory_type: MemoryType, id: Uuid, state: String, done: &'static str },
    #[error("idempotency_key {key:?} was used before, for a call of {tool} with other arguments")]
    KeyReused { key: String, tool: String },
    /// A job that deletes or expires memories waits.
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
    /// Whether the database is away, so that a later attempt may succeed.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unavailable())
    }
}

/// What to do about a clock that is in doubt.
pub const CLOCK_HINT: &str =
    "set the clock right, wait until it has been steady for an hour, or accept it with `butler jobs accept-clock`";
