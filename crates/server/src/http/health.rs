//! `/healthz` and `/readyz`: whether the process is alive, whether it can serve, and what is missing if it cannot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use butler_embed::Embedder;
use butler_host::access::{Access, Right};
use butler_host::butler::{Butler, ReplicaState};
use butler_host::host::{Host, Status};
use butler_memory::CLOCK_HINT;
use serde::Serialize;
use serde_json::json;

/// Long enough for a busy database, short enough for the timeout of a typical probe.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Two segments of the write-ahead log: with less, PostgreSQL soon cannot write.
const MIN_FREE_BYTES: u64 = 32 << 20;
/// Up to this many butlers of one database server are probed one by one; of more, one is probed for all. A database that
/// fails alone is found by the calls that use it.
const PROBED_EACH: usize = 16;

#[derive(Debug, Clone, Serialize)]
pub struct NotReady {
    /// `startup`, `database`, `migrations`, `disk`, `model`, `replica` or `clock`.
    pub what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub butler: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl NotReady {
    /// Removes names and reasons.
    fn redact(&mut self) {
        self.butler = None;
        self.hint = None;
        "use a token with the right `admin`, or read the server's log".clone_into(&mut self.message);
    }
}

pub async fn healthz() -> Response {
    let body =
        json!({"status": "ok", "program": "butler", "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id()});
    Json(body).into_response()
}

/// On a network address, only a token with the right `admin` sees names and reasons.
pub async fn readyz(State(host): State<Arc<Host>>, access: Option<Extension<Access>>) -> Response {
    let mut missing = readiness(&host).await;
    let mut degraded = degraded_replicas(&host);
    degraded.extend(clocks_in_doubt(&host).await);
    let ready = serves(&host, &missing);
    if access.is_some_and(|Extension(access)| !access.rights.include(Right::Admin)) {
        missing.iter_mut().chain(&mut degraded).for_each(NotReady::redact);
    }
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut body = json!({"ready": ready, "not_ready": missing});
    if !degraded.is_empty() {
        body["degraded"] = json!(degraded);
    }
    (status, Json(body)).into_response()
}

/// Problems of replicas. The server stays ready, because the primary takes over the reads.
fn degraded_replicas(host: &Host) -> Vec<NotReady> {
    let of = |butler: &Butler| {
        let (message, hint) = replica_trouble(&butler.database()?.replica_state()?)?;
        Some(NotReady { what: "replica", butler: Some(butler.name.to_string()), message, hint: Some(hint.to_owned()) })
    };
    host.butlers().iter().filter_map(|butler| of(butler)).collect()
}

/// Butlers whose jobs that delete or expire memories wait. Everything else works.
async fn clocks_in_doubt(host: &Host) -> Vec<NotReady> {
    let mut found = Vec::new();
    for butler in host.butlers() {
        let doubt = butler.memory().await.and_then(|memory| memory.clock_doubt());
        found.extend(doubt.map(|reason| NotReady {
            what: "clock",
            butler: Some(butler.name.to_string()),
            message: format!("the time is in doubt, so nothing is deleted or expired: {reason}"),
            hint: Some(CLOCK_HINT.to_owned()),
        }));
    }
    found
}

/// The problem of a replica and its remedy; `None` if the replica works.
pub fn replica_trouble(state: &ReplicaState) -> Option<(String, &'static str)> {
    match state {
        ReplicaState::Serving { .. } => None,
        ReplicaState::Lagging { behind } => Some((
            format!("the replica lags {behind} bytes of WAL behind the primary; reads go to the primary"),
            "check pg_stat_replication on the primary: the replica, its disk or the network is too slow",
        )),
        ReplicaState::Unavailable { reason } => Some((
            format!("the replica is not used; reads go to the primary: {reason}"),
            "start the replica, or correct read_url in [butler.database]; the server checks it every few seconds",
        )),
    }
}

/// Whether the server as a whole is ready. It is as long as one butler is, so that a load balancer keeps sending
/// requests for the others.
fn serves(host: &Host, missing: &[NotReady]) -> bool {
    let unavailable = missing.iter().filter(|it| it.butler.is_some()).count();
    missing.iter().all(|it| it.butler.is_some()) && unavailable < host.butlers().len()
}

/// Everything that keeps the server or one of its butlers from serving; empty if all are ready.
pub async fn readiness(host: &Host) -> Vec<NotReady> {
    let general = |what, message: String, hint| NotReady { what, butler: None, message, hint };
    let butlers = host.butlers();
    let checks = by_server(&butlers).into_iter().map(check_server);
    let mut missing: Vec<NotReady> = match host.status() {
        Status::Starting(phase) => vec![general("startup", phase.to_owned(), None)],
        Status::Failed(error) => return vec![general("startup", error.to_string(), error.hint())],
        Status::Stopping => return vec![general("startup", "the server is shutting down".to_owned(), None)],
        Status::Ready => Vec::new(),
    };
    missing.extend(futures::future::join_all(checks).await.into_iter().flatten());
    missing.extend(full_disk(host));
    if !host.engine().stats().loaded {
        missing.push(general("model", "the embedding model is not loaded yet".to_owned(), None));
    }
    missing
}

/// The disk of the private PostgreSQL, if it is full: reads still succeed, but writes fail.
fn full_disk(host: &Host) -> Option<NotReady> {
    let free = host.private_free_bytes().filter(|free| *free < MIN_FREE_BYTES)?;
    let message = format!("the disk of the data directory is full: {} MiB are free", free >> 20);
    let hint = format!("free some space in {}; no restart is needed", host.data_dir().display());
    Some(NotReady { what: "disk", butler: None, message, hint: Some(hint) })
}

/// Groups the butlers by database server.
fn by_server(butlers: &[Arc<Butler>]) -> Vec<Vec<&Arc<Butler>>> {
    let mut homes: BTreeMap<Option<String>, Vec<&Arc<Butler>>> = BTreeMap::new();
    for butler in butlers {
        homes.entry(butler.database().map(|database| database.server())).or_default().push(butler);
    }
    homes.into_values().collect()
}

/// Checks the butlers of one database server. If many share it, one is probed for all of them, so that a probe does not use
/// up the server's connections.
async fn check_server(butlers: Vec<&Arc<Butler>>) -> Vec<NotReady> {
    if butlers.len() <= PROBED_EACH {
        return futures::future::join_all(butlers.iter().map(|butler| check_database(butler)))
            .await
            .into_iter()
            .flatten()
            .collect();
    }
    let has_failed = |butler: &Arc<Butler>| butler.trouble().is_some() || butler.database().is_none();
    let (failed, started): (Vec<_>, Vec<_>) = butlers.into_iter().partition(|butler| has_failed(butler));
    let mut missing: Vec<NotReady> = Vec::new();
    for butler in failed {
        missing.extend(check_database(butler).await);
    }
    let Some((first, others)) = started.split_first() else { return missing };
    let Some(not) = check_database(first).await else { return missing };
    // It may be this butler's own trouble: some others tell.
    let (some, rest) = others.split_at(others.len().min(PROBED_EACH - 1));
    let probed = futures::future::join_all(some.iter().map(|butler| check_database(butler))).await;
    let server_is_down = probed.iter().all(Option::is_some);
    missing.push(not.clone());
    missing.extend(probed.into_iter().flatten());
    if server_is_down {
        missing.extend(rest.iter().map(|butler| NotReady { butler: Some(butler.name.to_string()), ..not.clone() }));
    }
    missing
}

async fn check_database(butler: &Butler) -> Option<NotReady> {
    let not = |what, message, hint| Some(NotReady { what, butler: Some(butler.name.to_string()), message, hint });
    if let Some(error) = butler.trouble() {
        return not("database", error.to_string(), error.hint());
    }
    let Some(database) = butler.database() else { return not("database", "not connected yet".to_owned(), None) };
    match tokio::time::timeout(TIMEOUT, database.health()).await {
        Err(_) => not("database", format!("no answer within {} s", TIMEOUT.as_secs()), None),
        Ok(Err(error)) => not("database", error.to_string(), error.hint()),
        Ok(Ok(health)) if !health.migrations_pending.is_empty() => {
            let hint = Some("restart the server: it applies migrations at start".to_owned());
            not("migrations", format!("pending migrations: {}", health.migrations_pending.join(", ")), hint)
        }
        Ok(Ok(_)) if database.disk_is_full() => {
            let hint = "free some space on the database's disk; no restart is needed".to_owned();
            not("disk", "a write failed because the database's disk is full".to_owned(), Some(hint))
        }
        Ok(Ok(health)) if !health.is_ready() => not("database", "pgvector is not installed".to_owned(), None),
        Ok(Ok(_)) => None,
    }
}
