//! The error responses of everything outside MCP and OAuth: `{"error": {"code", "message", "hint"}}`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::access::Denied;
use butler_memory::tool::ErrorCode;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::json;

/// What kind of error it is. Clients see [`HttpCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpCode {
    /// A kind of error that tools have as well.
    Tool(ErrorCode),
    /// The caller has no valid token.
    Unauthorized,
    /// The caller sends too many requests or has too many open streams.
    RateLimited,
    /// The body did not arrive in time.
    Timeout,
    /// The body is larger than its limit.
    TooLarge,
    UnsupportedMediaType,
    MethodNotAllowed,
    /// The body cannot be read.
    InvalidRequest,
    /// The server does as much of this work as it does at a time.
    Busy,
    /// The LLM did not answer.
    LlmFailed,
}

impl HttpCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool(code) => code.as_str(),
            Self::Unauthorized => "unauthorized",
            Self::RateLimited => "rate_limited",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::InvalidRequest => "invalid_request",
            Self::Busy => "busy",
            Self::LlmFailed => "llm_failed",
        }
    }
}

impl From<ErrorCode> for HttpCode {
    fn from(code: ErrorCode) -> Self {
        Self::Tool(code)
    }
}

impl Serialize for HttpCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The JSON body of every error response.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDetail {
    /// `invalid_argument`, `not_found`, `conflict`, `invalid_state`, `forbidden`, `unavailable`, `internal`, …
    // Clients must accept codes that they do not know, so the schema has no list of values.
    #[schemars(with = "String")]
    pub code: HttpCode,
    pub message: String,
    /// What the caller can do about it.
    pub hint: Option<String>,
}

pub fn reject(status: StatusCode, code: impl Into<HttpCode>, message: &str, hint: Option<&str>) -> Response {
    let body = error_body(code.into(), message, hint);
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// The text of an [`ErrorBody`].
pub(super) fn error_body(code: HttpCode, message: &str, hint: Option<&str>) -> String {
    let error = ErrorDetail { code, message: message.to_owned(), hint: hint.map(str::to_owned) };
    json!(ErrorBody { error }).to_string()
}

/// Turns a refusal by the access rules into a response.
pub fn denied(denied: Denied) -> Response {
    match denied {
        Denied::Forbidden { message, hint } => {
            reject(StatusCode::FORBIDDEN, ErrorCode::Forbidden, &message, Some(&hint))
        }
        Denied::InvalidTenant { message } => {
            reject(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, &message, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn an_error_body_has_the_text_of_the_code() {
        let body = |code: HttpCode| -> Value { serde_json::from_str(&error_body(code, "m", None)).unwrap() };
        let expected = |code: &str| json!({"error": {"code": code, "message": "m", "hint": null}});
        assert_eq!(body(ErrorCode::NotFound.into()), expected("not_found"));
        assert_eq!(body(HttpCode::TooLarge), expected("too_large"));
    }
}
