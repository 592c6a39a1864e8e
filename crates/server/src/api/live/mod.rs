//! `GET /api/events`: what happens, told as it happens, so that pages stay true without being asked to.

mod watch;

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use butler_domain::TenantId;
use butler_host::access::{Access, Right};
use butler_store::browse::events::LiveEvent;
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::error::ApiError;
use super::page::read_cursor;
use super::parameters;
use super::state::Api;

/// A listener this far behind is told to read everything anew.
const BACKLOG: usize = 1024;
/// Proxies close what says nothing for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// What listeners are told.
#[derive(Debug, Clone)]
pub enum Told {
    Event(Arc<str>, Arc<LiveEvent>),
    /// More happened than is worth telling one by one.
    Refresh,
}

/// One channel for each tenant somebody listens for.
#[derive(Default)]
pub struct Live {
    tenants: Mutex<HashMap<TenantId, Sender<Told>>>,
}

impl Live {
    /// The first listener of a tenant starts the watch, which ends after the last has gone.
    async fn subscribe(&self, api: &Api, tenant: &TenantId) -> Receiver<Told> {
        let watch = watch::Watch::begin(api.clone(), tenant.clone()).await;
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = tenants.get(tenant) {
            return sender.subscribe();
        }
        let (sender, receiver) = channel(BACKLOG);
        tenants.insert(tenant.clone(), sender.clone());
        tokio::spawn(watch.run(sender));
        receiver
    }

    /// Whether nobody listens any more; if so, the next listener starts a new watch.
    fn is_deserted(&self, tenant: &TenantId) -> bool {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let deserted = tenants.get(tenant).is_none_or(|sender| sender.receiver_count() == 0);
        if deserted {
            tenants.remove(tenant);
        }
        deserted
    }
}

pub async fn listen(State(api): State<Api>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    match open(api, &parts).await {
        Ok(stream) => {
            let mut response = Sse::new(stream).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
            // nothing between us and the page is to collect events
            response.headers_mut().insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
            response
        }
        Err(error) => error.into_response(),
    }
}

async fn open(api: Api, request: &Parts) -> Result<impl Stream<Item = Result<Event, Infallible>> + use<>, ApiError> {
    let access = request.extensions.get::<Access>().cloned().ok_or_else(ApiError::no_access)?;
    access.require(Right::Read)?;
    let header = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let pairs = parameters::pairs(&request.uri)?;
    let wanted = pairs.iter().find(|(name, _)| name == "tenant").map(|(_, value)| value.clone());
    let tenant = access.tenant(wanted.or_else(|| header("x-butler-tenant")).as_deref())?;
    let live = api.live.subscribe(&api, &tenant).await;
    let since = header("last-event-id").and_then(|id| read_cursor(&id).ok());
    let missed = match since {
        Some(since) => watch::missed(&api, &tenant, since).await,
        None => Vec::new(),
    };
    let ready = Event::default().event("ready").data("{}");
    let (may_use, closing) = (access.clone(), api.host.closing().clone());
    let told = stream::iter(missed).chain(stream::unfold(live, next));
    // A token may be revoked or expire while somebody listens with it.
    let (host, token) = (Arc::clone(&api.host), access.token);
    let still = move || token.is_none_or(|token| host.keyring().holds(token, host.clock().now()));
    let told = told.take_while(move |_| std::future::ready(still()));
    let events = told.filter_map(move |told| {
        let event = written(&told, &may_use);
        async move { event }
    });
    Ok(stream::iter([Ok(ready)]).chain(events.map(Ok)).take_until(closing.cancelled_owned()))
}

async fn next(mut live: Receiver<Told>) -> Option<(Told, Receiver<Told>)> {
    match live.recv().await {
        Ok(told) => Some((told, live)),
        Err(RecvError::Lagged(_)) => Some((Told::Refresh, live)),
        Err(RecvError::Closed) => None,
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: uuid::Uuid,
    event_type: &'a str,
    kind: Option<&'a str>,
    memory_id: Option<uuid::Uuid>,
    butler: &'a str,
    created_at: butler_domain::Timestamp,
}

/// `None`: it is of a butler this listener may not use.
fn written(told: &Told, access: &Access) -> Option<Event> {
    let Told::Event(butler, heard) = told else { return Some(Event::default().event("refresh").data("{}")) };
    access.may_use(butler).ok()?;
    let line = Line {
        id: heard.id,
        event_type: &heard.event_type,
        kind: heard.memory_type.as_deref(),
        memory_id: heard.memory_id,
        butler,
        created_at: heard.created_at,
    };
    let id = super::page::write_cursor((heard.created_at, heard.id));
    Event::default().event("memory").id(id).json_data(line).ok()
}

/// The stream in the OpenAPI document.
pub fn description(error: &Value) -> Value {
    let about = "Server-sent events: `ready` once the stream is open; `memory` for each change, with the data \
                 `{id, event_type, kind, memory_id, butler, created_at}`; `refresh` when more happened than is told one by \
                 one. `Last-Event-ID` continues a stream that broke off.";
    json!({"get": {
        "operationId": "listenEvents", "tags": ["events"], "summary": "Changes as they happen.", "description": about,
        "x-right": "read",
        "parameters": [
            {"name": "tenant", "in": "query", "required": false, "schema": {"type": "string"}},
            {"name": "Last-Event-ID", "in": "header", "required": false, "schema": {"type": "string"}},
        ],
        "responses": {
            "200": {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            "default": {"description": "Why not.", "content": {"application/json": {"schema": error}}},
        },
    }})
}
