//! The error responses of the endpoints that programs call: `{"error", "error_description"}` (RFC 6749, section 5.2).

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::error::HostError;
use serde_json::json;

#[derive(Debug)]
pub struct OAuthError {
    status: StatusCode,
    code: &'static str,
    description: String,
}

impl OAuthError {
    pub fn new(code: &'static str, description: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, description: description.into() }
    }

    pub fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl From<HostError> for OAuthError {
    fn from(error: HostError) -> Self {
        tracing::warn!(%error, "an OAuth request failed");
        Self::new("temporarily_unavailable", "the database cannot be reached; try again later")
            .with_status(StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = Json(json!({"error": self.code, "error_description": self.description}));
        (self.status, [(header::CACHE_CONTROL, "no-store")], body).into_response()
    }
}
