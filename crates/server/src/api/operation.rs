//! An API operation is one type. Its route and its entry in the OpenAPI document are both derived from it.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use butler_domain::{Source, TenantId, Timestamp, limits, validate};
use butler_host::access::{Access, Refusal, Right};
use butler_memory::browse::Browse;
use butler_memory::tool::ErrorCode;
use butler_memory::{Call, CallerTenant, Memory};
use futures::future::BoxFuture;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::envelope::Envelope;
use super::error::ApiError;
use super::parameters;
use super::state::Api;
use crate::http::HttpCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }

    const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

/// One endpoint. `()` stands for "no parameters" or "no body".
pub trait Operation: Send + Sync + 'static {
    type Path: DeserializeOwned + JsonSchema + Send + 'static;
    type Query: DeserializeOwned + JsonSchema + Send + 'static;
    type Body: DeserializeOwned + JsonSchema + Send;
    type Answer: Envelope;

    const ID: &'static str;
    const VERB: Verb;
    const PATH: &'static str;
    const TAG: &'static str;
    const SUMMARY: &'static str;
    const RIGHT: Right;

    fn run(
        ctx: RequestContext,
        path: Self::Path,
        query: Self::Query,
        body: Self::Body,
    ) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;
}

/// What every operation knows about a request: the caller, its rights, the tenant and the time.
#[derive(Clone)]
pub struct RequestContext {
    pub api: Api,
    pub access: Access,
    pub tenant: TenantId,
    pub now: Timestamp,
    pub request_id: Option<String>,
    /// A page that this server delivered sends the request.
    from_dashboard: bool,
}

impl RequestContext {
    /// Checks the caller's right and reads the caller from the head of a request. Also returns the query parameters
    /// other than the tenant.
    pub fn of(api: &Api, parts: &Parts, right: Right) -> Result<(Self, Vec<(String, String)>), ApiError> {
        // The authentication layer inserts it into every request; without it the request is rejected.
        let access = parts.extensions.get::<Access>().cloned().ok_or_else(ApiError::no_access)?;
        access.require(right)?;
        if parts.method != Method::GET {
            refuse_cross_site(&parts.headers)?;
        }
        let redactor = api.host.redactor();
        let (mut query, tenant) = split_tenant(&parts.uri, &parts.headers)?;
        for (_, value) in &mut query {
            redactor.redact_text(value);
        }
        let tenant = access.tenant(tenant.as_deref())?;
        let request_id = text(&parts.headers, "x-request-id")
            .map(|id| validate::label("X-Request-Id", &id, limits::REQUEST_ID_BYTES, redactor))
            .transpose()
            .map_err(ApiError::bad_parameter)?;
        let now = api.host.clock().now();
        let from_dashboard = text(&parts.headers, "sec-fetch-site").as_deref() == Some("same-origin");
        Ok((Self { api: api.clone(), access, tenant, now, request_id, from_dashboard }, query))
    }

    /// Who the audit events of this request name.
    pub fn actor(&self) -> String {
        self.access.caller.actor.clone().unwrap_or_else(|| "dashboard".to_owned())
    }

    /// The context of a use case on a butler's memory, with this request's caller and request id.
    pub fn call(&self, memory: &Memory) -> Call {
        let mut call = Call::internal(memory, self.tenant.clone(), self.actor());
        call.origin.request_id = self.request_id.clone();
        call.source = self.source();
        call
    }

    /// How far the caller is trusted. A person is at the command line, uses a token with the right `admin`, or uses the
    /// dashboard. A program without a token is an agent.
    fn source(&self) -> Source {
        let is_person = if self.access.token.is_some() { self.access.rights.admin } else { self.from_dashboard };
        if is_person { Source::Person } else { self.access.caller.source }
    }

    /// Only a person decides what to believe: an agent that was talked into something must not approve it itself.
    pub fn require_person(&self) -> Result<(), ApiError> {
        if self.source() == Source::Person {
            return Ok(());
        }
        let message = "only a person decides this";
        Err(ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, message)
            .hint("use the dashboard, `butler review`, or a token with the right `admin`"))
    }

    /// Reads the request's tenant in a butler's memory, at the time of the request.
    pub fn browse<'a>(&'a self, memory: &'a Memory) -> Browse<'a> {
        memory.browse(&self.tenant, self.now)
    }

    /// The same request as the holder of this token would send it: with its tenant, butler and rights. For callers with the
    /// right `admin`, to see what others get.
    pub fn on_behalf_of(mut self, token: Option<Uuid>, right: Right) -> Result<Self, ApiError> {
        let Some(id) = token else { return Ok(self) };
        self.access.require(Right::Admin)?;
        let unknown =
            || ApiError::not_found(format!("there is no token with id {id}")).hint("GET /api/tokens lists them");
        let refused = |refusal| {
            let state = if refusal == Refusal::Expired { "expired" } else { "revoked" };
            ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, format!("the token {id} is {state}"))
        };
        let (access, validity) = self.api.host.keyring().access_of(id, self.now).ok_or_else(unknown)?;
        // Checked first, so that a caller does not learn the state of somebody else's token.
        if !self.access.may_look_as(&access) {
            return Err(unknown());
        }
        validity.map_err(refused)?;
        access.require(right)?;
        self.tenant = access.tenant(None)?;
        self.access = access;
        Ok(self)
    }

    /// The tenant that the caller's token is restricted to; `None` for a trusted caller, which may use every tenant.
    pub fn restricted_to(&self) -> Option<&TenantId> {
        matches!(self.access.caller.tenant, CallerTenant::Token(_)).then_some(&self.tenant)
    }
}

/// An operation with its types erased, so that a table can hold all operations.
pub struct OperationEntry {
    pub path: &'static str,
    pub verb: Verb,
    pub id: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    pub right: Right,
    pub router: fn() -> MethodRouter<Api>,
    pub path_parameters: fn(&mut SchemaGenerator) -> schemars::Schema,
    pub query_parameters: fn(&mut SchemaGenerator) -> schemars::Schema,
    pub body: fn(&mut SchemaGenerator) -> schemars::Schema,
    pub answer: fn(&mut SchemaGenerator) -> schemars::Schema,
}

pub const fn entry<O: Operation>() -> OperationEntry {
    OperationEntry {
        path: O::PATH,
        verb: O::VERB,
        id: O::ID,
        tag: O::TAG,
        summary: O::SUMMARY,
        right: O::RIGHT,
        router: router::<O>,
        path_parameters: |schemas| schemas.subschema_for::<O::Path>(),
        query_parameters: |schemas| schemas.subschema_for::<O::Query>(),
        body: |schemas| schemas.subschema_for::<O::Body>(),
        answer: |schemas| schemas.subschema_for::<O::Answer>(),
    }
}

fn router<O: Operation>() -> MethodRouter<Api> {
    route(O::VERB, |api, path, request| Box::pin(answer::<O>(api, path, request)))
}

/// Answers a request. A pointer, so that axum's handler is one type for all operations and compiled once.
type Answer = fn(Api, RawPathParams, Request) -> BoxFuture<'static, Result<Response, ApiError>>;

fn route(verb: Verb, answer: Answer) -> MethodRouter<Api> {
    on(verb.filter(), move |State(api): State<Api>, path: RawPathParams, request: Request| async move {
        let host = Arc::clone(&api.host);
        answer(api, path, request).await.inspect_err(|error| {
            if error.is_unavailable() {
                host.report_trouble();
            }
        })
    })
}

async fn answer<O: Operation>(api: Api, path: RawPathParams, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let (ctx, query) = RequestContext::of(&api, &parts, O::RIGHT)?;
    let pairs = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let path = parameters::parse::<O::Path>(pairs, &[])?;
    let query = parameters::parse::<O::Query>(query, &["tenant"])?;
    let (body, redacted) = read(&api, &parts, body).await?.parse()?;
    let mut answer = O::run(ctx, path, query, body).await?;
    answer.set_redacted(redacted);
    Ok(answer.into_response())
}

/// The operation's own query parameters, and the tenant, which every operation accepts.
type QueryAndTenant = (Vec<(String, String)>, Option<String>);

fn split_tenant(uri: &Uri, headers: &HeaderMap) -> Result<QueryAndTenant, ApiError> {
    let (named, query): (Vec<_>, Vec<_>) =
        parameters::pairs(uri)?.into_iter().partition(|(name, _)| name.as_str() == "tenant");
    let named = named.into_iter().next().map(|(_, value)| value).filter(|value| !value.is_empty());
    Ok((query, named.or_else(|| text(headers, "x-butler-tenant"))))
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned).filter(|value| !value.is_empty())
}

/// Rejects forms that a page of another site makes a browser submit. `Origin` has been checked already, but a browser
/// may leave it out and send `Sec-Fetch-Site` instead.
fn refuse_cross_site(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get("sec-fetch-site").map(header::HeaderValue::as_bytes) {
        Some(b"cross-site" | b"same-site") => Err(ApiError::new(
            StatusCode::FORBIDDEN,
            ErrorCode::Forbidden,
            "a page of another site may not change data on this server",
        )),
        _ => Ok(()),
    }
}

/// The body of a request as JSON, without its secrets.
struct JsonBody {
    bytes: Vec<u8>,
    /// How many secrets it had.
    redacted: usize,
}

impl JsonBody {
    fn parse<T: DeserializeOwned>(self) -> Result<(T, usize), ApiError> {
        let Self { bytes, redacted } = self;
        let body = if bytes.is_empty() {
            // `null` parses as `()`, an empty object as a body whose fields are all optional.
            serde_json::from_slice(b"null").or_else(|_| serde_json::from_slice(b"{}")).map_err(|error| {
                ApiError::bad_body(&error).hint("send a JSON object with Content-Type: application/json")
            })?
        } else {
            serde_json::from_slice(&bytes).map_err(|error| ApiError::bad_body(&error))?
        };
        Ok((body, redacted))
    }
}

/// Reads the JSON body and redacts it. A form of another site cannot send JSON, so requiring it also protects against
/// CSRF.
async fn read(api: &Api, parts: &Parts, body: Body) -> Result<JsonBody, ApiError> {
    let timeout = api.host.server().request_timeout();
    let bytes =
        if parts.method == Method::GET { Default::default() } else { crate::http::read_body(body, timeout).await? };
    if bytes.is_empty() {
        return Ok(JsonBody { bytes: Vec::new(), redacted: 0 });
    }
    if !crate::http::is_json(&parts.headers) {
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let message = format!("the request body must be JSON, not {kind:?}");
        return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, HttpCode::UnsupportedMediaType, message)
            .hint("send Content-Type: application/json"));
    }
    let bytes = crate::http::replace_lone_surrogates(&bytes);
    let mut value: Value = serde_json::from_slice(&bytes).map_err(|error| ApiError::bad_body(&error))?;
    let redacted = api.host.redactor().redact_json(&mut value);
    // The errors of a body without secrets name the position in what the caller sent.
    let bytes = if redacted > 0 { value.to_string().into_bytes() } else { bytes.into_owned() };
    Ok(JsonBody { bytes, redacted })
}
