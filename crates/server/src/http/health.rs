//! Is the process alive; can it serve; and if not, what is missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use butler_embed::Embedder;
use butler_host::access::{Access, Right};
use butler_host::butler::Butler;
use butler_host::host::{Host, Status};
use butler_store::{Database, ReplicaState};
use serde::Serialize;
use serde_json::json;

/// Long enough for a busy database, short enough for whoever probes.
const PATIENCE: Duration = Duration::from_secs(3);
/// Butlers in one database that are each asked.
const ASKED_EACH: usize = 16;

#[derive(Debug, Clone, Serialize)]
pub struct NotReady {
    /// `startup`, `database`, `migrations`, `model` or `replica`.
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
    let mut body = json!({"ready": ready, "not_ready": missing});
    let degraded = replicas(&host);
    if !degraded.is_empty() {
        body["degraded"] = json!(degraded);
    }
    (status, Json(body)).into_response()
}

/// A replica that is away costs speed, not answers: it is told of and stops nothing.
fn replicas(host: &Host) -> Vec<NotReady> {
    let of = |butler: &Butler| {
        let (message, hint) = replica_trouble(&butler.database()?.replica_state()?)?;
        Some(NotReady { what: "replica", butler: Some(butler.name.to_string()), message, hint: Some(hint.to_owned()) })
    };
    host.butlers().iter().filter_map(|butler| of(butler)).collect()
}

/// What is wrong with a replica, and the remedy; `None` when nothing is.
pub fn replica_trouble(state: &ReplicaState) -> Option<(String, &'static str)> {
    match state {
        ReplicaState::Serving { .. } => None,
        ReplicaState::Slow { behind } => Some((
            format!("the replica is {behind} bytes of the log behind and does not keep up; reads go to the primary"),
            "look at pg_stat_replication on the primary: the replica, its disk or the network is too slow",
        )),
        ReplicaState::Away { reason } => Some((
            format!("the replica is not used, reads go to the primary: {reason}"),
            "start the replica, or correct read_url in [butler.database]; it is looked at again every few seconds",
        )),
    }
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
    let looks = by_home(&butlers).into_iter().map(databases);
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

/// The butlers of each database together.
fn by_home(butlers: &[Arc<Butler>]) -> Vec<Vec<&Arc<Butler>>> {
    let mut homes: BTreeMap<Option<String>, Vec<&Arc<Butler>>> = BTreeMap::new();
    for butler in butlers {
        homes.entry(butler.database().map(Database::place)).or_default().push(butler);
    }
    homes.into_values().collect()
}

/// Of very many that share a database, one is asked for all: a probe must not take all connections of the server.
async fn databases(butlers: Vec<&Arc<Butler>>) -> Vec<NotReady> {
    if butlers.len() <= ASKED_EACH {
        return futures::future::join_all(butlers.iter().map(|butler| database(butler)))
            .await
            .into_iter()
            .flatten()
            .collect();
    }
    let troubled = |butler: &Arc<Butler>| butler.trouble().is_some() || butler.database().is_none();
    let (troubled, well): (Vec<_>, Vec<_>) = butlers.into_iter().partition(|butler| troubled(butler));
    let mut missing: Vec<NotReady> = Vec::new();
    for butler in troubled {
        missing.extend(database(butler).await);
    }
    if let Some(first) = well.first()
        && let Some(not) = database(first).await
    {
        missing.extend(well.iter().map(|butler| NotReady { butler: Some(butler.name.to_string()), ..not.clone() }));
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
