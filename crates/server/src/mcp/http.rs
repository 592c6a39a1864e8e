//! MCP over streamable HTTP, without sessions and with plain JSON responses, so that any replica can serve any request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use butler_host::access::Access;
use butler_host::butler::Butler;
use butler_host::host::Host;
use butler_host::profile::Profile;
use butler_memory::tool::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::Handler;
use crate::http::{BODY_BYTES, HttpCode, denied, is_json, reject, replace_lone_surrogates};

type Service = StreamableHttpService<Handler, NeverSessionManager>;

/// By butler and profile. A butler that was removed and added again is a new one.
type Services = BTreeMap<(String, Profile), (Weak<Butler>, Service)>;

/// The endpoints of all butlers, created on first use, because butlers can be added and removed.
pub struct Endpoints {
    host: Arc<Host>,
    services: Mutex<Services>,
}

impl Endpoints {
    pub fn new(host: &Arc<Host>) -> Arc<Self> {
        Arc::new(Self { host: Arc::clone(host), services: Mutex::default() })
    }

    /// Serves the named butler or, without a name, the first one.
    async fn serve(&self, name: Option<&str>, request: Request) -> Response {
        match self.host.butler(name) {
            Ok(butler) => match may_use(&request, &butler) {
                Ok(()) => match Profile::of_query(request.uri().query()) {
                    Ok(named) => {
                        let profile = named.unwrap_or(butler.config.file.butler.profile);
                        let patience = self.host.server().request_timeout();
                        answer(&self.service_of(&butler, profile), request, patience).await
                    }
                    Err(message) => reject(StatusCode::BAD_REQUEST, ErrorCode::InvalidArgument, &message, None),
                },
                Err(response) => response,
            },
            Err(error) => {
                reject(StatusCode::NOT_FOUND, ErrorCode::NotFound, &error.to_string(), error.hint().as_deref())
            }
        }
    }

    fn service_of(&self, butler: &Arc<Butler>, profile: Profile) -> Service {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, service)) = services.get(&(butler.name.to_string(), profile))
            && of.as_ptr() == Arc::as_ptr(butler)
        {
            return service.clone();
        }
        // Drops the endpoints of butlers that were removed.
        services.retain(|_, (of, _)| of.strong_count() > 0);
        let service = service(&self.host, butler, profile);
        services.insert((butler.name.to_string(), profile), (Arc::downgrade(butler), service.clone()));
        service
    }
}

/// A request without an access did not pass authentication.
fn may_use(request: &Request, butler: &Butler) -> Result<(), Response> {
    match request.extensions().get::<Access>() {
        Some(access) => access.may_use(butler.name.as_str()).map_err(denied),
        None => Err(reject(StatusCode::UNAUTHORIZED, HttpCode::Unauthorized, "the caller is unknown", None)),
    }
}

fn service(host: &Arc<Host>, butler: &Arc<Butler>, profile: Profile) -> Service {
    let handler = Handler::new(Arc::clone(host), Arc::clone(butler), None, profile);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES)
        // The router has checked Host and Origin already.
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// `/mcp`, the endpoint of the first butler.
pub async fn first(State(endpoints): State<Arc<Endpoints>>, request: Request) -> Response {
    endpoints.serve(None, request).await
}

/// `/butlers/{name}/mcp`.
pub async fn named(State(endpoints): State<Arc<Endpoints>>, Path(name): Path<String>, request: Request) -> Response {
    endpoints.serve(Some(&name), request).await
}

async fn answer(service: &Service, request: Request, patience: Duration) -> Response {
    if request.method() != Method::POST {
        let method = request.method().clone();
        return unsupported_method(&method, service.handle(request).await.map(Body::new));
    }
    let (mut parts, body) = request.into_parts();
    let body = match crate::http::read_body(body, patience).await {
        Ok(body) => match replace_lone_surrogates(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(fixed) => Bytes::from(fixed),
        },
        Err(response) => return response,
    };
    if !is_json(&parts.headers) {
        let kind = kind_of(&parts.headers);
        let message = format!("Content-Type must be application/json, not {kind:?}");
        return protocol_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, &message);
    }
    // The library compares the header literally.
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(&body) {
        return protocol_error(StatusCode::BAD_REQUEST, PARSE_ERROR, &format!("the body is not JSON: {error}"));
    }
    let response = service.handle(Request::from_parts(parts, Body::from(body.clone()))).await.map(Body::new);
    // The library also returns 415 for a body that is JSON but not a message of the protocol.
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return match invalid_request(&body) {
            Some(refused) => refused,
            None => explain(response, StatusCode::BAD_REQUEST).await,
        };
    }
    let status = response.status();
    explain(response, status).await
}

fn kind_of(headers: &HeaderMap) -> &str {
    headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default()
}

/// Responds to a request with invalid parameters as JSON-RPC does, so that the caller gets the error and not its
/// transport.
fn invalid_request(body: &[u8]) -> Option<Response> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64())?;
    let method = message["method"].as_str().filter(|_| message["jsonrpc"] == "2.0")?;
    let error = super::handler::invalid_request(method);
    Some(axum::Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response())
}

/// Replaces the library's plain text for an unsupported HTTP method. Its `Allow` header is kept.
fn unsupported_method(method: &Method, response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    let message = format!("{method} is not supported: MCP uses POST here, without sessions");
    let hint = "send each JSON-RPC message as a POST of its own";
    let mut told = reject(StatusCode::METHOD_NOT_ALLOWED, HttpCode::MethodNotAllowed, &message, Some(hint));
    if let Some(allow) = response.headers().get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, allow.clone());
    }
    told
}

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The library responds to some bad requests in plain text, but a JSON-RPC client expects JSON-RPC.
async fn explain(response: Response, status: StatusCode) -> Response {
    if !response.status().is_client_error() || kind_of(response.headers()).starts_with("application/json") {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), BODY_BYTES).await.unwrap_or_else(|_| Bytes::new());
    protocol_error(status, INVALID_REQUEST, &String::from_utf8_lossy(&text))
}

fn protocol_error(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
