//! MCP over streamable HTTP, without sessions and with plain JSON answers: any replica can serve any request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::json;

use super::{Handler, Profile};
use crate::access::Access;
use crate::butler::Butler;
use crate::host::Host;
use crate::http::{BODY_BYTES, reject};

type Service = StreamableHttpService<Handler, NeverSessionManager>;

/// By butler and profile; a butler that went and came again is another one.
type Services = BTreeMap<(String, Profile), (Weak<Butler>, Service)>;

/// Every butler's endpoint, made when it is first asked for: butlers come and go.
pub struct Endpoints {
    host: Arc<Host>,
    services: Mutex<Services>,
}

impl Endpoints {
    pub fn new(host: &Arc<Host>) -> Arc<Self> {
        Arc::new(Self { host: Arc::clone(host), services: Mutex::default() })
    }

    /// By name; without one, the first butler's.
    async fn serve(&self, name: Option<&str>, request: Request) -> Response {
        match self.host.butler(name) {
            Ok(butler) => match may_use(&request, &butler) {
                Ok(()) => match Profile::of_query(request.uri().query()) {
                    Ok(named) => {
                        let profile = named.unwrap_or(butler.config.file.butler.profile);
                        answer(&self.service_of(&butler, profile), request).await
                    }
                    Err(message) => reject(StatusCode::BAD_REQUEST, "invalid_argument", &message, None),
                },
                Err(response) => response,
            },
            Err(error) => reject(StatusCode::NOT_FOUND, "not_found", &error.to_string(), None),
        }
    }

    fn service_of(&self, butler: &Arc<Butler>, profile: Profile) -> Service {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, service)) = services.get(&(butler.name.to_string(), profile))
            && of.as_ptr() == Arc::as_ptr(butler)
        {
            return service.clone();
        }
        // A butler that went leaves its endpoint behind until now.
        services.retain(|_, (of, _)| of.strong_count() > 0);
        let service = service(&self.host, butler, profile);
        services.insert((butler.name.to_string(), profile), (Arc::downgrade(butler), service.clone()));
        service
    }
}

/// A request that brings no access did not come through the gate.
fn may_use(request: &Request, butler: &Butler) -> Result<(), Response> {
    match request.extensions().get::<Access>() {
        Some(access) => access.may_use(butler.name.as_str()),
        None => Err(reject(StatusCode::UNAUTHORIZED, "unauthorized", "who asks is not known", None)),
    }
}

fn service(host: &Arc<Host>, butler: &Arc<Butler>, profile: Profile) -> Service {
    let handler = Handler::new(Arc::clone(host), Arc::clone(butler), None, profile);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
        // The guard in front of every path has looked at Host and Origin already.
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// `/mcp`: the first butler.
pub async fn first(State(endpoints): State<Arc<Endpoints>>, request: Request) -> Response {
    endpoints.serve(None, request).await
}

/// `/butlers/{name}/mcp`.
pub async fn named(State(endpoints): State<Arc<Endpoints>>, Path(name): Path<String>, request: Request) -> Response {
    endpoints.serve(Some(&name), request).await
}

async fn answer(service: &Service, request: Request) -> Response {
    if request.method() != axum::http::Method::POST {
        return service.handle(request).await.map(Body::new);
    }
    let (parts, body) = request.into_parts();
    let body = match crate::http::read_body(body).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(&body) {
        return protocol_error(StatusCode::BAD_REQUEST, PARSE_ERROR, &format!("the body is not JSON: {error}"));
    }
    let response = service.handle(Request::from_parts(parts, Body::from(body))).await.map(Body::new);
    explain(response).await
}

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The library answers some bad requests in plain text; a client of JSON-RPC expects JSON-RPC.
async fn explain(response: Response) -> Response {
    let json = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !response.status().is_client_error() || json {
        return response;
    }
    let status = match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if text_of_json_failure(&response) => StatusCode::BAD_REQUEST,
        status => status,
    };
    let text = axum::body::to_bytes(response.into_body(), BODY_BYTES).await.unwrap_or_else(|_| Bytes::new());
    protocol_error(status, INVALID_REQUEST, &String::from_utf8_lossy(&text))
}

/// 415 is also what the library says of a body that is JSON but no message of the protocol.
fn text_of_json_failure(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_none()
}

fn protocol_error(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
