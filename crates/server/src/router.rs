//! Routes each path to its handler, behind the checks that every request passes.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use butler_host::host::Host;
use butler_memory::tool::ErrorCode;

use crate::http::{self, AllowedHosts, Authenticator, HttpCode, reject};
use crate::{api, dashboard, mcp, oauth};

/// Builds the router. Every request first passes the check of `Host` and `Origin`, then authentication.
pub fn router(host: Arc<Host>, allowed: AllowedHosts, authenticator: Authenticator) -> Router {
    let mcp = Router::new()
        .route("/mcp", any(mcp::http::first))
        .route("/butlers/{name}/mcp", any(mcp::http::named))
        .with_state(mcp::http::Endpoints::new(&host));
    // Without OAuth, a client that gets 401 looks for its metadata in vain. Without this route the dashboard would answer.
    let well_known = Router::new().route("/.well-known/{*rest}", any(no_login));
    Router::new()
        .merge(mcp)
        .merge(api::router(&host))
        .merge(oauth::router(&host).unwrap_or(well_known))
        .route("/healthz", get(http::healthz))
        .route("/readyz", get(http::readyz))
        .route("/metrics", get(metrics))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(authenticator, http::authenticate))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&host), oauth::offer_login))
        .layer(axum::middleware::from_fn_with_state(allowed, http::check_host_and_origin))
        .layer(axum::middleware::from_fn(http::catch_panic))
        .layer(axum::middleware::from_fn(http::protect))
        .with_state(host)
}

async fn metrics(State(host): State<Arc<Host>>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    host.refresh_metrics().await;
    ([(header::CONTENT_TYPE, OPEN_METRICS)], host.metrics_text()).into_response()
}

async fn no_login(uri: Uri) -> Response {
    let hint = "OAuth needs `public_url` in [server]; without it, send `Authorization: Bearer TOKEN` with a token from \
                `butler token create`";
    reject(StatusCode::NOT_FOUND, ErrorCode::NotFound, &format!("there is nothing at {}", uri.path()), Some(hint))
}

/// Serves a file or page of the dashboard, or 404.
async fn unknown_path(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if let Some(response) = dashboard::page(&method, uri.path(), &headers) {
        return response;
    }
    let hint =
        "MCP is at /mcp and /butlers/{name}/mcp, the REST API at /api; /readyz reports whether the server is ready";
    reject(StatusCode::NOT_FOUND, ErrorCode::NotFound, &format!("there is nothing at {}", uri.path()), Some(hint))
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let message = format!("{} does not support {method}", uri.path());
    reject(StatusCode::METHOD_NOT_ALLOWED, HttpCode::MethodNotAllowed, &message, None)
}
