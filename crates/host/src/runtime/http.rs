//! The HTTP client of the runtimes: a JSON POST with a deadline, a size limit for the response, and retries with
//! backoff.

use std::fmt;
use std::time::{Duration, Instant};

use butler_memory::runtime::RuntimeError;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::http::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::ordered_schema::OrderedSchema;
use super::{MAX_RESPONSE_BYTES, excerpt};
use crate::outbound::Outbound;

/// If a server asks for a longer delay, the request fails and the next scheduled run tries again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Shorter keys are not masked: they are placeholders for local servers and may occur as words in a message.
const MIN_SECRET_CHARS: usize = 12;

/// An API key from the environment. Its `Debug` output does not show the key.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Requires the variable to be set and not empty, so that a missing key is reported at start.
    pub fn from_env(variable: &str) -> Result<Self, RuntimeError> {
        let problem = |what: &str| {
            RuntimeError::Misconfigured(format!(
                "the environment variable {variable} (butler.runtime.api_key_env) {what}"
            ))
        };
        let key = std::env::var(variable).map_err(|_| problem("is not set"))?;
        Self::new(&key).ok_or_else(|| problem("is empty or contains characters that are not valid in a key"))
    }

    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty() && HeaderValue::from_str(key).is_ok()).then(|| Self(key.to_owned()))
    }

    pub(super) fn header(&self, prefix: &str) -> Result<HeaderValue, RuntimeError> {
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", self.0)).map_err(|_| {
            RuntimeError::Misconfigured("the API key contains characters that are not valid in a key".to_owned())
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// How often to retry a request after a temporary error.
#[derive(Debug, Clone, Copy)]
pub struct Retries {
    pub attempts: u32,
    /// The delay before the first retry; it doubles with each attempt.
    pub first_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { attempts: 5, first_wait: Duration::from_secs(1) }
    }
}

pub(super) struct Endpoint {
    client: Outbound,
    pub url: Uri,
    headers: HeaderMap,
    timeout: Duration,
    retries: Retries,
}

impl Endpoint {
    pub fn new(url: &str, timeout: Duration, retries: Retries) -> Result<Self, RuntimeError> {
        let url: Uri = url
            .parse()
            .ok()
            .filter(|url: &Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some())
            .ok_or_else(|| RuntimeError::Misconfigured(format!("{url:?} is not an http or https URL")))?;
        let client = Outbound::to(&url).map_err(|problem| RuntimeError::Misconfigured(format!("{url} {problem}")))?;
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        Ok(Self { client, url, headers, timeout, retries })
    }

    pub fn header(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.insert(name, value);
    }

    /// Posts JSON and returns the JSON response. Retries temporary errors (429, 5xx, broken connections, truncated
    /// responses) within the timeout.
    pub async fn post(&self, body: &Value) -> Result<Value, RuntimeError> {
        let text = serde_json::to_vec(&OrderedSchema(body))
            .map_err(|error| RuntimeError::Misconfigured(format!("cannot encode the request: {error}")))?;
        let body = Bytes::from(text);
        let started = Instant::now();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let left = self.timeout.saturating_sub(started.elapsed());
            let outcome = timeout(left, self.once(body.clone())).await.unwrap_or_else(|_| Err(self.timed_out()));
            let Err(failure) = outcome else { return outcome.map_err(|failure| failure.error) };
            let wait = failure.retry_after.unwrap_or(self.retries.first_wait * 2_u32.saturating_pow(attempt - 1));
            let time_is_left = started.elapsed() + wait < self.timeout;
            if !failure.retryable || attempt >= self.retries.attempts || wait > LONGEST_WAIT || !time_is_left {
                return Err(failure.error);
            }
            tracing::warn!(
                attempt,
                ?wait,
                error = failure.error.without_quotes(),
                "the request to the LLM failed; trying again"
            );
            sleep(wait).await;
        }
    }

    async fn once(&self, body: Bytes) -> Result<Value, Failure> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        let response = self.client.request(request).await.map_err(|error| self.unreachable(&error))?;
        let (head, body) = response.into_parts();
        let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                let error = RuntimeError::TooLarge { runtime: self.url.to_string(), limit: MAX_RESPONSE_BYTES };
                return Failure { error, retryable: false, retry_after: None };
            }
            self.unreachable(error.as_ref())
        })?;
        let body = body.to_bytes();
        if head.status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| Failure {
                error: RuntimeError::Malformed { url: self.url.to_string(), reason: error.to_string() },
                retryable: true,
                retry_after: None,
            });
        }
        let error = RuntimeError::Refused {
            url: self.url.to_string(),
            status: head.status.as_u16(),
            body: excerpt(&self.without_keys(&String::from_utf8_lossy(&body))),
        };
        let retryable = head.status == StatusCode::TOO_MANY_REQUESTS || head.status.is_server_error();
        Err(Failure { error, retryable, retry_after: retry_after(&head.headers) })
    }

    /// Masks the API key in an error message: a server may repeat the key that it rejects, and its message ends up in
    /// logs and in the records of failed episodes.
    fn without_keys(&self, message: &str) -> String {
        let values = self.headers.values().filter(|value| value.is_sensitive()).filter_map(|value| value.to_str().ok());
        let keys = values.filter_map(|value| value.rsplit(' ').next()).filter(|key| key.len() >= MIN_SECRET_CHARS);
        keys.fold(message.to_owned(), |message, key| message.replace(key, "…"))
    }

    fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> Failure {
        // The actual cause ("connection refused") is at the end of the chain.
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(next) = cause {
            reason = format!("{reason}: {next}");
            cause = next.source();
        }
        let error = RuntimeError::Unreachable { url: self.url.to_string(), reason };
        Failure { error, retryable: true, retry_after: None }
    }

    fn timed_out(&self) -> Failure {
        let error =
            RuntimeError::TimedOut { runtime: self.url.to_string(), after: self.timeout, stderr: String::new() };
        Failure { error, retryable: false, retry_after: None }
    }
}

struct Failure {
    error: RuntimeError,
    retryable: bool,
    retry_after: Option<Duration>,
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
