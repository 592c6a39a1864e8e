//! Authenticates every request: decides who the caller is, or that the path needs no caller.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use butler_domain::TenantId;
use butler_host::access::{Access, Limiter, Refusal, Right, Secret, TokenHash, TokenState, hash_token};
use butler_host::host::Host;
use butler_host::host::tokens::LookupError;
use butler_memory::tool::ErrorCode;
use uuid::Uuid;

use super::headers::is_forwarded;
use super::{ClientConnection, HttpCode, denied, reject};

#[derive(Clone)]
pub struct Authenticator(Arc<Inner>);

struct Inner {
    host: Arc<Host>,
    secret: Secret,
    /// The server listens on loopback only, and not behind a proxy. Until a token exists, every caller is trusted.
    loopback: bool,
    limiter: Limiter<Uuid>,
}

impl Authenticator {
    pub fn new(host: Arc<Host>, secret: Secret, loopback: bool, rate_limit: u32) -> Self {
        Self(Arc::new(Inner { host, secret, loopback, limiter: Limiter::new(rate_limit) }))
    }

    /// Returns the caller's rights; `None` if the path needs no authentication.
    async fn access(&self, path: PathKind, headers: &HeaderMap) -> Result<Option<Access>, Response> {
        let Inner { host, secret, loopback, limiter } = &*self.0;
        // A proxy on this machine forwards the requests of strangers.
        let local = *loopback && !is_forwarded(headers);
        if path == PathKind::Open || (matches!(path, PathKind::Metrics | PathKind::Health) && local) {
            return Ok(None);
        }
        let bearer = bearer(headers);
        let hash: Option<TokenHash> = bearer.map(hash_token);
        if hash.as_ref().is_some_and(|hash| secret.is(hash)) {
            return Ok(Some(Access::owner()));
        }
        let session = bearer.and_then(|bearer| secret.session(bearer));
        let session = session.and_then(|(butler, tenant)| Some(Access::session(butler, TenantId::new(tenant).ok()?)));
        if let Some(access) = session {
            if path == PathKind::Metrics {
                access.require(Right::Metrics).map_err(denied)?;
            }
            return Ok(Some(access));
        }
        if path == PathKind::Health {
            // A load balancer has no token and learns only whether the server is ready.
            let known = hash.and_then(|hash| host.keyring().verify(&hash, host.clock().now()).ok());
            return Ok(Some(known.unwrap_or_else(Access::stranger)));
        }
        // Whether tokens exist is known only after the databases have been read.
        host.await_start().await.map_err(|error| {
            reject(StatusCode::SERVICE_UNAVAILABLE, error.code, &error.message, error.hint.as_deref())
        })?;
        let Some(hash) = hash else {
            return if local { trusted_if_no_tokens(host).map(Some) } else { Err(no_token()) };
        };
        // A request with a token is never served as one without, even while no token exists.
        let access = match host.keyring().verify(&hash, host.clock().now()) {
            Err(Refusal::Unknown) => {
                let looked_up = host.look_up_token(&hash).await;
                match (host.keyring().verify(&hash, host.clock().now()), looked_up) {
                    (Err(Refusal::Unknown), Err(error)) => return Err(not_looked_up(&error)),
                    (verified, _) => verified.map_err(refused)?,
                }
            }
            verified => verified.map_err(refused)?,
        };
        if let Some(token) = access.token {
            limiter.take(token, Instant::now()).map_err(too_many)?;
        }
        if path == PathKind::Metrics {
            // Metrics cover all tenants, so a tenant's token may not read them.
            access.require(Right::Metrics).map_err(denied)?;
        }
        Ok(Some(access))
    }
}

/// Puts the caller's [`Access`] into the request's extensions, or rejects the request. Handlers that need an `Access`
/// reject requests without one, so a path that is classified as open by mistake stays closed.
pub async fn authenticate(State(authenticator): State<Authenticator>, mut request: Request, next: Next) -> Response {
    let path = PathKind::of(request.uri().path());
    // Other paths accept an unknown token.
    let verifies = bearer(request.headers()).is_some() && matches!(path, PathKind::Memory | PathKind::Metrics);
    match authenticator.access(path, request.headers()).await {
        Ok(Some(access)) => {
            if verifies && let Some(ConnectInfo(client)) = request.extensions().get::<ConnectInfo<ClientConnection>>() {
                client.authenticated();
            }
            request.extensions_mut().insert(access);
        }
        Ok(None) => {}
        Err(response) => return response,
    }
    next.run(request).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathKind {
    /// MCP and REST.
    Memory,
    Metrics,
    /// `/readyz`: anybody may see whether the server is ready, but only an administrator the reasons.
    Health,
    /// The dashboard's files and `/healthz`, which reveal nothing that is stored.
    Open,
}

impl PathKind {
    pub(super) fn of(path: &str) -> Self {
        let within = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let of_a_butler = path.starts_with("/butlers/") && path.trim_end_matches('/').ends_with("/mcp");
        match path {
            _ if within("/mcp") || within("/api") || of_a_butler => Self::Memory,
            _ if within("/metrics") => Self::Metrics,
            _ if within("/readyz") => Self::Health,
            _ => Self::Open,
        }
    }
}

/// The bearer token; `None` if the header is repeated or has another scheme.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let single = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    Some(token.trim()).filter(|token| single && !token.is_empty())
}

/// Loopback callers without a token are trusted, but only while it is certain that no token exists.
fn trusted_if_no_tokens(host: &Host) -> Result<Access, Response> {
    match host.token_state() {
        TokenState::None => Ok(Access::trusted()),
        TokenState::Exist => Err(no_token()),
        TokenState::Unknown { butler } => {
            let message =
                format!("the tokens of butler {butler:?} cannot be read, so callers without a token are refused");
            let hint = "send a token, or make the butler's database reachable; `butler doctor` shows the cause";
            Err(reject(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, &message, Some(hint)))
        }
    }
}

fn not_looked_up(error: &LookupError) -> Response {
    let (message, hint) = match error {
        LookupError::Busy => {
            ("too many unknown tokens are presented at once".to_owned(), "check the token, then try again in a moment")
        }
        LookupError::Unreachable { butler } => (
            format!("this token is unknown, and the tokens of butler {butler:?} cannot be read"),
            "try again when the butler's database is reachable; `butler doctor` shows the cause",
        ),
    };
    reject(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, &message, Some(hint))
}

fn no_token() -> Response {
    let hint = "send the header `Authorization: Bearer TOKEN`; `butler token create --tenant TENANT` creates a token";
    challenge("this server requires a token", hint, "Bearer realm=\"butler\"")
}

fn refused(refusal: Refusal) -> Response {
    let (message, challenged) = match refusal {
        Refusal::Unknown => ("unknown token", "Bearer realm=\"butler\", error=\"invalid_token\""),
        Refusal::Revoked => (
            "this token was revoked",
            "Bearer realm=\"butler\", error=\"invalid_token\", error_description=\"revoked\"",
        ),
        Refusal::Expired => (
            "this token has expired",
            "Bearer realm=\"butler\", error=\"invalid_token\", error_description=\"expired\"",
        ),
    };
    challenge(message, "create a new one: butler token create --tenant TENANT", challenged)
}

fn challenge(message: &str, hint: &str, challenge: &'static str) -> Response {
    let mut response = reject(StatusCode::UNAUTHORIZED, HttpCode::Unauthorized, message, Some(hint));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn too_many(wait: Duration) -> Response {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    let hint = format!("wait {seconds} s; set the limit with `rate_limit` in [server] or --rate-limit");
    let message = "too many requests with this token";
    let mut response = reject(StatusCode::TOO_MANY_REQUESTS, HttpCode::RateLimited, message, Some(&hint));
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_and_api_paths_require_authentication_and_files_do_not() {
        for path in ["/mcp", "/mcp/", "/butlers/a/mcp", "/butlers/a/mcp/", "/api", "/api/memory/facts", "/api/x"] {
            assert_eq!(PathKind::of(path), PathKind::Memory, "{path}");
        }
        for path in ["/", "/healthz", "/butlers/a/memory", "/apix", "/assets/mcp.js", "/.well-known/x"] {
            assert_eq!(PathKind::of(path), PathKind::Open, "{path}");
        }
        assert_eq!((PathKind::of("/metrics"), PathKind::of("/readyz")), (PathKind::Metrics, PathKind::Health));
    }

    #[test]
    fn a_bearer_token_is_read_from_exactly_one_bearer_header() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(of(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(of(&["bearer  abc "]).as_deref(), Some("abc"));
        for values in [&[][..], &["Basic abc"], &["Bearer"], &["Bearer "], &["Bearer a", "Bearer b"]] {
            assert_eq!(of(values), None, "{values:?}");
        }
    }
}
