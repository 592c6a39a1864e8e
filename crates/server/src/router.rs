//! Which handler answers which path, and the checks in front of all of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use butler_host::host::Host;

use crate::http::{self, Allowed, Gate, reject};
use crate::{api, dashboard, mcp};

/// Every request passes the guard (which names are we called by), then the gate (who asks).
pub fn router(host: Arc<Host>, allowed: Allowed, gate: Gate) -> Router {
    let mcp = Router::new()
        .route("/mcp", any(mcp::http::first))
        .route("/butlers/{name}/mcp", any(mcp::http::named))
        .with_state(mcp::http::Endpoints::new(&host));
    Router::new()
        .merge(mcp)
        .merge(api::router(&host))
        .route("/healthz", get(http::healthz))
        .route("/readyz", get(http::readyz))
        .route("/metrics", get(metrics))
        // A client that is refused looks here for a login; there is none, and no page may pretend to be one.
        .route("/.well-known/{*rest}", any(no_login))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(gate, http::identify))
        .layer(axum::middleware::from_fn_with_state(allowed, http::check))
        .with_state(host)
}

async fn metrics(State(host): State<Arc<Host>>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    host.refresh_metrics().await;
    ([(header::CONTENT_TYPE, OPEN_METRICS)], host.metrics_text()).into_response()
}

async fn no_login(uri: Uri) -> Response {
    let hint = "there is no OAuth here: send `Authorization: Bearer TOKEN`, made by `butler token create`";
    reject(StatusCode::NOT_FOUND, "not_found", &format!("there is nothing at {}", uri.path()), Some(hint))
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
