//! The parameters of a request. A parameter that is given twice is an error: two programs might read different ones.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use url::form_urlencoded;

use crate::http::{HttpCode, read_body_up_to, reject};

/// Longer than any real request.
const MAX_BYTES: usize = 32 * 1024;

#[derive(Debug)]
pub struct Form(Vec<(String, String)>);

impl Form {
    pub fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// Reads the form in the body. The error is the response to send.
    pub async fn read(headers: &HeaderMap, body: Body, timeout: Duration) -> Result<Self, Response> {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let message = format!("Content-Type must be application/x-www-form-urlencoded, not {kind:?}");
            return Err(reject(StatusCode::UNSUPPORTED_MEDIA_TYPE, HttpCode::UnsupportedMediaType, &message, None));
        }
        let bytes = read_body_up_to(body, MAX_BYTES, timeout).await?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Self::parse(text)),
            Err(_) => Err(reject(StatusCode::BAD_REQUEST, HttpCode::InvalidRequest, "the form cannot be read", None)),
        }
    }

    /// The parameter's value, if it is there and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The name of a parameter that is given more than once.
    pub fn repeated(&self) -> Option<&str> {
        let times = |name: &str| self.0.iter().filter(|(key, _)| key == name).count();
        self.0.iter().map(|(key, _)| key.as_str()).find(|key| times(key) > 1)
    }
}
