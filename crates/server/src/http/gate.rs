//! In front of every path: finds out who asks, or says why it does not matter who.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use butler_domain::TenantId;
use butler_host::access::{Access, Limiter, Refusal, Right, Secret};
use butler_host::host::Host;
use butler_store::tokens::{TokenHash, hash};

use super::{denied, reject};

#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    host: Arc<Host>,
    secret: Secret,
    /// Only programs of this machine reach us: without tokens they are trusted.
    loopback: bool,
    limiter: Limiter,
}

impl Gate {
    pub fn new(host: Arc<Host>, secret: Secret, loopback: bool, rate_limit: u32) -> Self {
        Self(Arc::new(Inner { host, secret, loopback, limiter: Limiter::new(rate_limit) }))
    }

    /// `None`: nobody needs to be known here.
    async fn access(&self, path: Path, bearer: Option<&str>) -> Result<Option<Access>, Response> {
        let Inner { host, secret, loopback, limiter } = &*self.0;
        if path == Path::Open || (matches!(path, Path::Metrics | Path::Health) && *loopback) {
            return Ok(None);
        }
        let hash: Option<TokenHash> = bearer.map(hash);
        if hash.as_ref().is_some_and(|hash| secret.is(hash)) {
            return Ok(Some(Access::trusted()));
        }
        let session = bearer.and_then(|bearer| secret.session(bearer));
        let session = session.and_then(|(butler, tenant)| Some(Access::session(butler, TenantId::new(tenant).ok()?)));
        if let Some(access) = session {
            if path == Path::Metrics {
                access.require(Right::Metrics).map_err(denied)?;
            }
            return Ok(Some(access));
        }
        if path == Path::Health {
            // A load balancer has no token; who has one is told more.
            let known = hash.and_then(|hash| host.keyring().verify(&hash, host.clock().now()).ok());
            return Ok(Some(known.unwrap_or_else(Access::stranger)));
        }
        // Until the databases were read nobody knows whether there are tokens.
        host.await_start().await.map_err(|error| {
            reject(StatusCode::SERVICE_UNAVAILABLE, error.code.as_str(), &error.message, error.hint.as_deref())
        })?;
        let keyring = host.keyring();
        if *loopback && !keyring.any() {
            return Ok(Some(Access::trusted()));
        }
        let hash = hash.ok_or_else(absent)?;
        let access = keyring.verify(&hash, host.clock().now()).map_err(refused)?;
        if let Some(token) = access.token {
            limiter.take(token, Instant::now()).map_err(too_many)?;
        }
        if path == Path::Metrics {
            // They count the calls of all tenants, which no tenant's token may see.
            access.require(Right::Metrics).map_err(denied)?;
        }
        Ok(Some(access))
    }
}

/// Puts the [`Access`] of a request into its extensions, or answers why there is none. What needs one and finds none
/// there refuses: an open path that turns out to be more stays shut.
pub async fn identify(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let path = Path::of(request.uri().path());
    match gate.access(path, bearer(request.headers())).await {
        Ok(Some(access)) => {
            request.extensions_mut().insert(access);
        }
        Ok(None) => {}
        Err(response) => return response,
    }
    next.run(request).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    /// Memory: MCP and REST.
    Memory,
    Metrics,
    /// Whether it serves; why not is for those who run it.
    Health,
    /// The dashboard's files and whether the process lives: nothing of anybody's memory.
    Open,
}

impl Path {
    fn of(path: &str) -> Self {
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

/// Two headers, or another scheme, are none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let single = values.next().is_none() && scheme.eq_ignore_ascii_case("bearer");
    Some(token.trim()).filter(|token| single && !token.is_empty())
}

fn absent() -> Response {
    let hint = "send the header `Authorization: Bearer TOKEN`; `butler token create --tenant TENANT` makes a token";
    challenge("this server needs a token", hint, "Bearer realm=\"butler\"")
}

fn refused(refusal: Refusal) -> Response {
    let (message, challenged) = match refusal {
        Refusal::Unknown => ("this token is not known here", "Bearer realm=\"butler\", error=\"invalid_token\""),
        Refusal::Revoked => (
            "this token was revoked",
            "Bearer realm=\"butler\", error=\"invalid_token\", error_description=\"revoked\"",
        ),
        Refusal::Expired => (
            "this token has expired",
            "Bearer realm=\"butler\", error=\"invalid_token\", error_description=\"expired\"",
        ),
    };
    challenge(message, "make a new one: butler token create --tenant TENANT", challenged)
}

fn challenge(message: &str, hint: &str, challenge: &'static str) -> Response {
    let mut response = reject(StatusCode::UNAUTHORIZED, "unauthorized", message, Some(hint));
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    response
}

fn too_many(wait: Duration) -> Response {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    let hint = format!("wait {seconds} s; the limit is `rate_limit` in [server], or --rate-limit");
    let message = "this token asks too much at once";
    let mut response = reject(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message, Some(&hint));
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_behind_the_gate_and_files_are_not() {
        for path in ["/mcp", "/mcp/", "/butlers/a/mcp", "/butlers/a/mcp/", "/api", "/api/memory/facts", "/api/x"] {
            assert_eq!(Path::of(path), Path::Memory, "{path}");
        }
        for path in ["/", "/healthz", "/butlers/a/memory", "/apix", "/assets/mcp.js", "/.well-known/x"] {
            assert_eq!(Path::of(path), Path::Open, "{path}");
        }
        assert_eq!((Path::of("/metrics"), Path::of("/readyz")), (Path::Metrics, Path::Health));
    }

    #[test]
    fn a_bearer_is_one_header_of_that_scheme() {
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
