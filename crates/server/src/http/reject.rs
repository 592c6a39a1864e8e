//! The error responses of everything outside MCP: `{"error": {"code", "message", "hint"}}`.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::access::Denied;
use serde_json::json;

pub fn reject(status: StatusCode, code: &str, message: &str, hint: Option<&str>) -> Response {
    let body = json!({"error": {"code": code, "message": message, "hint": hint}});
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Turns a refusal by the access rules into a response.
pub fn denied(denied: Denied) -> Response {
    match denied {
        Denied::Forbidden { message, hint } => reject(StatusCode::FORBIDDEN, "forbidden", &message, Some(&hint)),
        Denied::InvalidTenant { message } => reject(StatusCode::BAD_REQUEST, "invalid_argument", &message, None),
    }
}
