//! Is the process alive; can it serve; and if not, what is missing.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use embed::Embedder;
use serde::Serialize;
use serde_json::json;

use crate::access::{Access, Right};
use crate::butler::Butler;
use crate::host::{Host, Status};

/// Long enough for a busy database, short enough for whoever probes.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Serialize)]
pub struct NotReady {
    /// `startup`, `database`, `migrations` or `model`.
    pub what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub butler: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

pub async fn healthz() -> Response {
    let body =
        json!({"status": "ok", "program": "butler", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id()});
    Json(body).into_response()
}

/// On an address of the network, names and reasons are for a token with the right `admin` alone.
pub async fn readyz(State(host): State<Arc<Host>>, access: Option<Extension<Access>>) -> Response {
    let mut missing = readiness(&host).await;
    let ready = serves(&host, &missing);
    if access.is_some_and(|Extension(access)| !access.rights.include(Right::Admin)) {
        for it in &mut missing {
            it.butler = None;
            it.hint = None;
            it.message = "ask with a token that has the right `admin`, or look into the server's log".to_owned();
        }
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": ready, "not_ready": missing}))).into_response()
}

/// A butler that is away is told of, but does not take the others off a load balancer.
fn serves(host: &Host, missing: &[NotReady]) -> bool {
    let away = missing.iter().filter(|it| it.butler.is_some()).count();
    missing.iter().all(|it| it.butler.is_some()) && away < host.butlers().len()
}

/// What keeps the server, or one of its butlers, from serving; empty when nothing does.
pub async fn readiness(host: &Host) -> Vec<NotReady> {
    let general = |what, message: String, hint| NotReady { what, butler: None, message, hint };
    let butlers = host.butlers();
    let looks = butlers.iter().map(|butler| database(butler));
    let mut missing: Vec<NotReady> = match host.status() {
        Status::Starting(phase) => vec![general("startup", phase.to_owned(), None)],
        Status::Failed(error) => return vec![general("startup", error.to_string(), error.hint())],
        Status::Stopping => return vec![general("startup", "the server is shutting down".to_owned(), None)],
        Status::Ready => Vec::new(),
    };
    missing.extend(futures::future::join_all(looks).await.into_iter().flatten());
    if !host.engine().stats().loaded {
        missing.push(general("model", "the embedding model is not loaded yet".to_owned(), None));
    }
    missing
}

async fn database(butler: &Butler) -> Option<NotReady> {
    let not = |what, message, hint| Some(NotReady { what, butler: Some(butler.name.to_string()), message, hint });
    if let Some(error) = butler.trouble() {
        return not("database", error.to_string(), error.hint());
    }
    let Some(database) = butler.database() else { return not("database", "not connected yet".to_owned(), None) };
    match tokio::time::timeout(PATIENCE, database.health()).await {
        Err(_) => not("database", format!("no answer within {} s", PATIENCE.as_secs()), None),
        Ok(Err(error)) => not("database", error.to_string(), error.hint()),
        Ok(Ok(health)) if !health.migrations_pending.is_empty() => {
            let hint = Some("restart the server: it migrates the database at start".to_owned());
            not("migrations", format!("not applied: {}", health.migrations_pending.join(", ")), hint)
        }
        Ok(Ok(health)) if !health.is_ready() => not("database", "pgvector is not installed".to_owned(), None),
        Ok(Ok(_)) => None,
    }
}
