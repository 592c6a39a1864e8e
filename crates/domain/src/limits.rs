//! Limits, each with its reason. Beyond one: a clear error, nothing written.

/// Text of one memory. More is a document, not a memory; PostgreSQL's tsvector ends at 1 MB too.
pub const CONTENT_BYTES: usize = 1024 * 1024;
/// The text a search vector is made of is cut here, on a code point.
pub const SEARCH_TEXT_BYTES: usize = 1024 * 1024;
/// A query is a question, not a document.
pub const QUERY_BYTES: usize = 8 * 1024;
/// The most results of one call.
pub const RESULTS: usize = 100;
/// Four characters a token: the largest context that still fits an HTTP answer of 4 MiB.
pub const TOKEN_BUDGET: usize = 1_000_000;
pub const TAGS: usize = 64;
pub const TAG_BYTES: usize = 256;
pub const METADATA_BYTES: usize = 64 * 1024;
/// Tenant, scope and butler: part of B-tree keys, which end at 2704 bytes together with subject and predicate.
pub const NAME_BYTES: usize = 256;
pub const SUBJECT_BYTES: usize = 1024;
pub const PREDICATE_BYTES: usize = 512;
/// A name longer than this is a text that was put in the wrong field.
pub const ENTITY_NAME_BYTES: usize = 512;
/// A list that is given; one that an entity has grown to by merges may be given again.
pub const ALIASES: usize = 64;
/// What merges add up to: all names together are one indexed text.
pub const MERGED_ALIASES: usize = 1024;
pub const REASON_BYTES: usize = 4 * 1024;
/// Kept with the rule, newest last; every reason ever given stays in rule_applications.
pub const HARMFUL_REASONS: usize = 100;
pub const REQUEST_ID_BYTES: usize = 256;
pub const IDEMPOTENCY_KEY_BYTES: usize = 256;
