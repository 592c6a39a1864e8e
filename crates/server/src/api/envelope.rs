//! The envelope of every successful response: `{"data": …, "meta": …}`.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// A response that can describe its own JSON schema.
pub trait Envelope: Serialize + JsonSchema + IntoResponse + Send {
    /// Says how many secrets were redacted in the request's body. Only operations that change something have one, and
    /// none of them returns a list.
    fn set_redacted(&mut self, _count: usize) {}
}

/// A response with one item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
pub struct Single<T> {
    pub data: T,
    pub meta: Meta,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Meta {
    /// Butlers that did not respond. `data` does not include what they store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// Number of secrets that were redacted in the request. Left out if there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub redacted: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Meta {
    pub fn new(unavailable: Vec<String>) -> Self {
        Self { unavailable, redacted: 0 }
    }
}

/// A response with one page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct List<T> {
    pub data: Vec<T>,
    pub meta: PageMeta,
}

#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PageMeta {
    /// Number of items on all pages.
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
    pub has_more: bool,
    /// Pass this as `cursor` to get the next page. Null on the last page and for lists that are not sorted newest
    /// first.
    pub next_cursor: Option<String>,
    /// Butlers that did not respond. Neither `data` nor `total` includes what they store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
    /// True if the list may lack items that `total` does not count either, because finding all of them would take too long.
    /// Left out otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// An item together with the butler whose database holds it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}At")]
pub struct WithHome<T> {
    /// The butler whose database holds this item.
    pub home: String,
    #[serde(flatten)]
    pub item: T,
}

impl<T> Single<T> {
    pub fn new(data: T) -> Self {
        Self { data, meta: Meta::default() }
    }
}

impl<T> List<T> {
    /// A list that always fits on one page.
    pub fn complete(data: Vec<T>, unavailable: Vec<String>) -> Self {
        let total = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let meta = PageMeta { total, limit: total, unavailable, ..PageMeta::default() };
        Self { data, meta }
    }
}

impl<T: Serialize + JsonSchema + Send> Envelope for Single<T> {
    fn set_redacted(&mut self, count: usize) {
        self.meta.redacted = count;
    }
}
impl<T: Serialize + JsonSchema + Send> Envelope for List<T> {}

/// Memories change at any time, so no cache may keep a response.
const NO_STORE: [(header::HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-store")];

impl<T: Serialize> IntoResponse for Single<T> {
    fn into_response(self) -> Response {
        (NO_STORE, Json(self)).into_response()
    }
}

impl<T: Serialize> IntoResponse for List<T> {
    fn into_response(self) -> Response {
        (NO_STORE, Json(self)).into_response()
    }
}
