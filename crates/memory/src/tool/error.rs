//! Why a tool call failed, for the model that made it.

use std::fmt;

use butler_domain::validate::Invalid;
use butler_store::StoreError;
use serde::{Serialize, Serializer};

use crate::MemoryError;

/// What kind of error it is. Clients, metrics and traces see [`ErrorCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// An argument is missing, unknown or malformed.
    InvalidArgument,
    /// No memory, entity, conflict or proposal has the given id, or no butler has the tool.
    NotFound,
    /// The memory exists, but its state does not allow the change.
    InvalidState,
    /// The change contradicts one that was made before.
    Conflict,
    /// The caller's token lacks the right that the tool requires.
    Forbidden,
    /// The database, the model or the server is not ready. A later attempt may succeed.
    Unavailable,
    /// A fault in the program.
    Internal,
}

impl ErrorCode {
    /// Every code, for metrics and for reading a code from its name.
    pub const ALL: [Self; 7] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::InvalidState,
        Self::Conflict,
        Self::Forbidden,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The code as clients, metrics and traces see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
            Self::InvalidState => "invalid_state",
            Self::Conflict => "conflict",
            Self::Forbidden => "forbidden",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// The code that a server sent; `None` for text that is not one of the codes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Why a tool did nothing, for the model that called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    pub code: ErrorCode,
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// `request_context.request_id` of the failed call.
    pub request_id: Option<String>,
}

impl ToolError {
    /// An error without a hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, request_id: None }
    }

    /// An error that is the program's fault and not the caller's.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

impl From<Invalid> for ToolError {
    fn from(invalid: Invalid) -> Self {
        Self::new(ErrorCode::InvalidArgument, invalid.to_string()).hint(invalid.hint)
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            error if error.is_unavailable() => ErrorCode::Unavailable,
            StoreError::NotMigrated { .. } => ErrorCode::Unavailable,
            StoreError::Violation { .. } => ErrorCode::Conflict,
            _ => ErrorCode::Internal,
        };
        if code != ErrorCode::Conflict {
            tracing::error!(%error, "a tool call failed in the database");
        }
        Self::new(code, error.to_string()).hint(error.hint())
    }
}

impl From<MemoryError> for ToolError {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Invalid(invalid) => invalid.into(),
            MemoryError::Store(error) => error.into(),
            MemoryError::NotFound { memory_type, .. } | MemoryError::NoReference { memory_type, .. } => {
                let hint = format!("check the id and that memory_type is {memory_type}; memory_search finds ids");
                Self::new(ErrorCode::NotFound, error.to_string()).hint(Some(hint))
            }
            MemoryError::NoEntity { .. } => Self::new(ErrorCode::NotFound, error.to_string())
                .hint(Some("entity_resolve finds entities by name, entity_create creates one".to_owned())),
            MemoryError::NotListed { .. } => Self::new(ErrorCode::NotFound, error.to_string())
                .hint(Some("list them with the action list".to_owned())),
            MemoryError::Conflict { message, hint } => Self::new(ErrorCode::Conflict, message).hint(Some(hint)),
            MemoryError::InvalidState { ref hint, .. } => {
                let hint = hint.clone();
                Self::new(ErrorCode::InvalidState, error.to_string()).hint(Some(hint))
            }
            MemoryError::Gone { memory_type, .. } => Self::new(ErrorCode::InvalidState, error.to_string())
                .hint(Some(format!("if it is true again, store it with memory_store_{memory_type}"))),
            MemoryError::KeyReused { .. } => Self::new(ErrorCode::Conflict, error.to_string())
                .hint(Some("use a new idempotency_key for a new request".to_owned())),
            MemoryError::ClockInDoubt { .. } => {
                Self::new(ErrorCode::Unavailable, error.to_string()).hint(Some(crate::error::CLOCK_HINT.to_owned()))
            }
            MemoryError::Panicked => Self::internal(error.to_string()),
            MemoryError::Embed(error) => {
                tracing::error!(%error, "a tool call failed while it embedded text");
                Self::new(ErrorCode::Unavailable, error.to_string())
                    .hint(Some("`butler doctor` checks the model".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.as_str()), Some(code));
        }
        assert_eq!(ErrorCode::from_name("teapot"), None);
    }
}
