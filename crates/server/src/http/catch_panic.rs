//! Answers a request whose handler panicked. Without this, the client sees a connection that closes without a response.

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use butler_memory::tool::ErrorCode;
use futures::FutureExt;
use uuid::Uuid;

use super::reject;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Turns a panic into status 500 with the request's id, under which the log has the panic.
pub async fn catch_panic(request: Request, next: Next) -> Response {
    let given = request.headers().get(REQUEST_ID).filter(|id| id.to_str().is_ok_and(|id| !id.is_empty())).cloned();
    let route = format!("{} {}", request.method(), request.uri().path());
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            let id = given.unwrap_or_else(|| {
                HeaderValue::from_str(&Uuid::new_v4().to_string()).unwrap_or(HeaderValue::from_static("unknown"))
            });
            let shown = id.to_str().unwrap_or_default().to_owned();
            tracing::error!(route, request_id = shown, "a bug in the program failed the request");
            let hint = format!("the server's log has the details under request id {shown}; please report the bug");
            let message = "a bug in the program failed the request";
            let mut response = reject(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, message, Some(&hint));
            response.headers_mut().insert(REQUEST_ID, id);
            response
        }
    }
}
