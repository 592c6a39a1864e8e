//! The envelope of every answer: `{"data": …, "meta": …}`.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// An answer that knows its own shape.
pub trait Envelope: Serialize + JsonSchema + IntoResponse + Send {}

/// One thing.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Answer")]
pub struct One<T> {
    pub data: T,
    pub meta: Meta,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Meta {
    /// Butlers that could not be reached: what they know is not in `data`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct Many<T> {
    pub data: Vec<T>,
    pub meta: PageMeta,
}

#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PageMeta {
    /// How many there are in all, on this and all other pages.
    pub total: i64,
    pub limit: i64,
    pub offset: i64,
    pub has_more: bool,
    /// Give it as `cursor` for the next page; null at the end, and for lists in another order than newest first.
    pub next_cursor: Option<String>,
    /// Butlers that could not be reached: what they know is neither in `data` nor in `total`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
}

/// Something that lives in a butler's database.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{T}At")]
pub struct At<T> {
    /// The butler in whose database it is.
    pub home: String,
    #[serde(flatten)]
    pub item: T,
}

impl<T> One<T> {
    pub fn of(data: T) -> Self {
        Self { data, meta: Meta::default() }
    }
}

impl<T> Many<T> {
    /// A list that is always whole.
    pub fn whole(data: Vec<T>, unavailable: Vec<String>) -> Self {
        let total = i64::try_from(data.len()).unwrap_or(i64::MAX);
        let meta = PageMeta { total, limit: total, offset: 0, has_more: false, next_cursor: None, unavailable };
        Self { data, meta }
    }
}

impl<T: Serialize + JsonSchema + Send> Envelope for One<T> {}
impl<T: Serialize + JsonSchema + Send> Envelope for Many<T> {}

/// Memories change; nobody is to show an old answer for a new one.
const FRESH: [(header::HeaderName, &str); 1] = [(header::CACHE_CONTROL, "no-store")];

impl<T: Serialize> IntoResponse for One<T> {
    fn into_response(self) -> Response {
        (FRESH, Json(self)).into_response()
    }
}

impl<T: Serialize> IntoResponse for Many<T> {
    fn into_response(self) -> Response {
        (FRESH, Json(self)).into_response()
    }
}
