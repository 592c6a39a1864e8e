//! The error responses of the endpoints that programs call: `{"error", "error_description"}` (RFC 6749, section 5.2).

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::error::HostError;
use serde_json::json;

/// The error codes of OAuth that clients see as [`OAuthCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthCode {
    AccessDenied,
    InvalidClient,
    InvalidClientMetadata,
    InvalidGrant,
    InvalidRedirectUri,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    TemporarilyUnavailable,
    UnsupportedGrantType,
    UnsupportedResponseType,
}

impl OAuthCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::InvalidClient => "invalid_client",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }
}

#[derive(Debug)]
pub struct OAuthError {
    status: StatusCode,
    code: OAuthCode,
    description: String,
}

impl OAuthError {
    pub fn new(code: OAuthCode, description: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, description: description.into() }
    }

    pub fn invalid_request(description: impl Into<String>) -> Self {
        Self::new(OAuthCode::InvalidRequest, description)
    }

    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl From<HostError> for OAuthError {
    fn from(error: HostError) -> Self {
        tracing::warn!(%error, "an OAuth request failed");
        Self::new(OAuthCode::TemporarilyUnavailable, "the database cannot be reached; try again later")
            .with_status(StatusCode::SERVICE_UNAVAILABLE)
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = Json(json!({"error": self.code.as_str(), "error_description": self.description}));
        (self.status, [(header::CACHE_CONTROL, "no-store")], body).into_response()
    }
}
