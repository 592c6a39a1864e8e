//! `GET /api/events`: a stream of server-sent events that tells the dashboard about changes as they happen.

mod poll;
mod streams;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use butler_domain::TenantId;
use butler_host::access::{Access, Right};
use butler_host::host::Host;
use butler_memory::browse::LiveEvent;
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::error::ApiError;
use super::page::read_cursor;
use super::parameters;
use crate::http::HttpCode;
use streams::OpenStreams;

/// A client that lags further behind gets `refresh` instead of the single events.
const BACKLOG: usize = 1024;
/// Proxies often close connections that are silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A message to the clients of a stream.
#[derive(Debug, Clone)]
pub enum Notification {
    Event(Arc<str>, Arc<LiveEvent>),
    /// Too many changes to send one by one: the client should reload.
    Refresh,
}

/// The open event streams: one channel per tenant with at least one client.
#[derive(Clone, Default)]
pub struct LiveEvents {
    tenants: Arc<Mutex<HashMap<TenantId, Sender<Notification>>>>,
    streams: OpenStreams,
}

impl LiveEvents {
    /// Adds a client. The first client of a tenant starts polling for its events; polling ends when the last one
    /// leaves.
    async fn subscribe(&self, host: &Arc<Host>, tenant: &TenantId) -> Receiver<Notification> {
        let poller = poll::EventPoller::begin(Arc::clone(host), self.clone(), tenant.clone()).await;
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = tenants.get(tenant) {
            return sender.subscribe();
        }
        let (sender, receiver) = channel(BACKLOG);
        tenants.insert(tenant.clone(), sender.clone());
        tokio::spawn(poller.run(sender));
        receiver
    }

    /// Removes the tenant's channel if it has no clients left, so that the next client starts a new poller. Returns
    /// whether the channel is gone.
    fn remove_if_unused(&self, tenant: &TenantId) -> bool {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = tenants.get(tenant).is_none_or(|sender| sender.receiver_count() == 0);
        if unused {
            tenants.remove(tenant);
        }
        unused
    }
}

pub async fn listen(State(host): State<Arc<Host>>, State(live): State<LiveEvents>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    match open(host, live, &parts).await {
        Ok(stream) => {
            let mut response = Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
            // Tells nginx and compatible proxies not to buffer the stream.
            response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
            response
        }
        Err(error) => error.into_response(),
    }
}

async fn open(
    host: Arc<Host>,
    live: LiveEvents,
    request: &Parts,
) -> Result<impl Stream<Item = Result<Event, Infallible>> + use<>, ApiError> {
    let access = request.extensions.get::<Access>().cloned().ok_or_else(ApiError::no_access)?;
    access.require(Right::Read)?;
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let pairs = parameters::pairs(&request.uri)?;
    let requested = pairs.iter().find(|(name, _)| name == "tenant").map(|(_, value)| value.clone());
    let tenant = access.tenant(requested.or_else(|| header("x-butler-tenant")).as_deref())?;
    let max = host.server().streams_per_token;
    let counted = live.streams.open(access.token, max).ok_or_else(|| too_many_streams(max))?;
    let live = live.subscribe(&host, &tenant).await;
    let since = header("last-event-id").and_then(|id| read_cursor(&id).ok());
    let missed = match since {
        Some(since) => poll::missed(&host, &tenant, since).await,
        None => Vec::new(),
    };
    let ready = Event::default().event("ready").data("{}");
    let (may_use, closing) = (access.clone(), host.closing().clone());
    let notifications = stream::iter(missed).chain(stream::unfold(live, next));
    // The token may be revoked, rotated or expire while the stream is open.
    let secret = access.secret;
    let still_valid = move || secret.is_none_or(|secret| host.keyring().is_valid(&secret, host.clock().now()));
    let notifications = notifications.take_while(move |_| std::future::ready(still_valid()));
    let events = notifications.filter_map(move |notification| {
        let _counted = &counted;
        let event = encode(&notification, &may_use);
        async move { event }
    });
    Ok(stream::iter([Ok(ready)]).chain(events.map(Ok)).take_until(closing.cancelled_owned()))
}

fn too_many_streams(max: usize) -> ApiError {
    let message = format!("this token already has {max} open event streams");
    let hint = "close some of them, or raise streams_per_token in [server]";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, HttpCode::RateLimited, message).hint(hint)
}

async fn next(mut live: Receiver<Notification>) -> Option<(Notification, Receiver<Notification>)> {
    match live.recv().await {
        Ok(notification) => Some((notification, live)),
        Err(RecvError::Lagged(_)) => Some((Notification::Refresh, live)),
        Err(RecvError::Closed) => None,
    }
}

#[derive(Serialize)]
struct EventData<'a> {
    id: uuid::Uuid,
    event_type: &'a str,
    kind: Option<&'a str>,
    memory_id: Option<uuid::Uuid>,
    butler: &'a str,
    created_at: butler_domain::Timestamp,
}

/// Encodes a notification; `None` if the client may not use the butler it comes from.
fn encode(notification: &Notification, access: &Access) -> Option<Event> {
    let Notification::Event(butler, event) = notification else {
        return Some(Event::default().event("refresh").data("{}"));
    };
    access.may_use(butler).ok()?;
    let line = EventData {
        id: event.id,
        event_type: &event.event_type,
        kind: event.memory_type.as_deref(),
        memory_id: event.memory_id,
        butler,
        created_at: event.created_at,
    };
    let id = super::page::write_cursor((event.created_at, event.id));
    Event::default().event("memory").id(id).json_data(line).ok()
}

/// The OpenAPI description of the stream.
pub fn description(error: &Value) -> Value {
    let about = "Server-sent events: `ready` once the stream is open; `memory` for each change, with the data \
                 `{id, event_type, kind, memory_id, butler, created_at}`; `refresh` when there are too many changes to send one \
                 by one. `Last-Event-ID` resumes an interrupted stream.";
    json!({"get": {
        "operationId": "listenEvents", "tags": ["events"], "summary": "Stream changes as they happen.", "description": about,
        "x-right": "read",
        "parameters": [
            {"name": "tenant", "in": "query", "required": false, "schema": {"type": "string"}},
            {"name": "Last-Event-ID", "in": "header", "required": false, "schema": {"type": "string"}},
        ],
        "responses": {
            "200": {"description": "The event stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "default": {"description": "The error, with a hint what to do about it.",
                        "content": {"application/json": {"schema": error}}},
        },
    }})
}
