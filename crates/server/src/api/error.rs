//! The error responses of the REST API: status, code, message and hint.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use butler_domain::validate::Invalid;
use butler_host::access::Denied;
use butler_host::error::HostError;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{MemoryError, StoreError};

use crate::http::{HttpCode, denied, reject};

/// Hint for an unknown id.
pub const FIND_MEMORY: &str = "check the id; GET /api/memory/search?q= finds memories by text";

#[derive(Debug)]
pub enum ApiError {
    Refused {
        status: StatusCode,
        code: HttpCode,
        message: String,
        hint: Option<String>,
    },
    /// A complete response from the HTTP layer, such as the access check or the body reader.
    Response(Box<Response>),
}

impl ApiError {
    pub fn new(status: StatusCode, code: impl Into<HttpCode>, message: impl Into<String>) -> Self {
        Self::Refused { status, code: code.into(), message: message.into(), hint: None }
    }

    pub fn hint(mut self, given: impl Into<String>) -> Self {
        if let Self::Refused { hint, .. } = &mut self {
            *hint = Some(given.into());
        }
        self
    }

    /// An invalid path or query parameter.
    pub fn bad_parameter(invalid: Invalid) -> Self {
        let error = Self::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, invalid.to_string());
        match invalid.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    pub fn bad_body(error: &serde_json::Error) -> Self {
        let message = format!("the request body is not valid: {error}");
        let status = if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
        Self::new(status, ErrorCode::InvalidArgument, message)
    }

    pub fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, what)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, message)
            .hint("try again in a moment; /readyz reports what is missing")
    }

    pub fn no_access() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, "the request was not authenticated")
    }

    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Refused { status: StatusCode::SERVICE_UNAVAILABLE, .. })
    }
}

impl From<Denied> for ApiError {
    fn from(refusal: Denied) -> Self {
        denied(refusal).into()
    }
}

impl From<Response> for ApiError {
    fn from(response: Response) -> Self {
        Self::Response(Box::new(response))
    }
}

/// Keeps the error codes of the tools and adds an HTTP status to each.
impl From<ToolError> for ApiError {
    fn from(error: ToolError) -> Self {
        let status = match error.code {
            ErrorCode::InvalidArgument => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::Conflict | ErrorCode::InvalidState => StatusCode::CONFLICT,
            ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::Refused { status, code: error.code.into(), message: error.message, hint: error.hint }
    }
}

/// Replaces hints that name MCP tools by hints that name REST paths.
impl From<MemoryError> for ApiError {
    fn from(error: MemoryError) -> Self {
        let hint = match &error {
            MemoryError::NotFound { .. } | MemoryError::NoReference { .. } => FIND_MEMORY.to_owned(),
            MemoryError::NoEntity { .. } => {
                "check the id; GET /api/memory/entities?q= finds entities by name".to_owned()
            }
            MemoryError::Gone { memory_type, id, .. } => {
                format!("restore it first: POST /api/memory/{memory_type}s/{id}/restore")
            }
            _ => return ToolError::from(error).into(),
        };
        Self::from(ToolError::from(error)).hint(hint)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        ToolError::from(error).into()
    }
}

impl From<HostError> for ApiError {
    fn from(error: HostError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        let code = match error {
            HostError::Store { source, .. } => return source.into(),
            HostError::Tool(error) => return error.into(),
            HostError::TokenNameTaken { .. } => ErrorCode::Conflict,
            HostError::TokenNotLive { .. } => ErrorCode::InvalidState,
            HostError::UnknownToken { .. } => ErrorCode::NotFound,
            _ => ErrorCode::Internal,
        };
        ToolError { hint, ..ToolError::new(code, message) }.into()
    }
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> Self {
        ToolError::from(invalid).into()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Refused { status, code, message, hint } => reject(status, code, &message, hint.as_deref()),
            Self::Response(response) => *response,
        }
    }
}
