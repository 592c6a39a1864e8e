//! The envelope of every error outside of MCP.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub fn reject(status: StatusCode, code: &str, message: &str, hint: Option<&str>) -> Response {
    let body = json!({"error": {"code": code, "message": message, "hint": hint}});
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
