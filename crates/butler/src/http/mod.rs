//! The HTTP server: MCP, health and metrics, all behind one guard.

mod body;
pub mod client;
mod guard;
mod health;
pub mod listen;
mod reject;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use body::{BODY_BYTES, read_body};
pub use guard::Allowed;
pub use health::readiness;
pub use reject::reject;

use crate::error::HostError;
use crate::host::Host;
use crate::{access, api, dashboard, mcp};

pub fn router(host: Arc<Host>, allowed: Allowed) -> Router {
    let mcp = Router::new()
        .route("/mcp", any(mcp::http::first))
        .route("/butlers/{name}/mcp", any(mcp::http::named))
        .with_state(mcp::http::Endpoints::new(&host));
    Router::new()
        .merge(mcp)
        .merge(api::router(&host))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn(access::identify))
        .layer(axum::middleware::from_fn_with_state(allowed, guard::check))
        .with_state(host)
}

/// Serves until the token is cancelled, then finishes what is in flight.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) -> Result<(), HostError> {
    use axum::serve::ListenerExt;
    // An answer is one small write: waiting to fill a packet would only delay it.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await.map_err(HostError::Serve)
}

async fn metrics(State(host): State<Arc<Host>>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, OPEN_METRICS)], host.metrics.text(&host)).into_response()
}

/// A file or page of the dashboard, or nothing.
async fn unknown_path(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(response) = dashboard::page(&method, uri.path(), &headers) {
        return response;
    }
    let hint = "MCP is at /mcp and /butlers/{name}/mcp; /healthz, /readyz and /metrics tell how the server is";
    reject(StatusCode::NOT_FOUND, "not_found", &format!("there is nothing at {}", uri.path()), Some(hint))
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let message = format!("{method} is not possible at {}", uri.path());
    reject(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", &message, None)
}
