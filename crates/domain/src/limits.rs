//! The limits on input. A call that exceeds one fails with an error and writes nothing. `*_BYTES` limit the length of a
//! UTF-8 text; the others limit the number of items.

/// The content of one memory. PostgreSQL limits a `tsvector` to 1 MB as well.
pub const CONTENT_BYTES: usize = 1024 * 1024;
/// The text of a search vector is truncated to this length, at a character boundary.
pub const SEARCH_TEXT_BYTES: usize = 1024 * 1024;
/// A search query, which is a question and not a document.
pub const QUERY_BYTES: usize = 8 * 1024;
/// The results of one search call.
pub const RESULTS: usize = 100;
/// The tokens of a context block. At four characters per token the block still fits into an HTTP response of 4 MiB.
pub const TOKEN_BUDGET: usize = 1_000_000;
/// The tags of one memory.
pub const TAGS: usize = 64;
/// One tag, which is a label and not a sentence.
pub const TAG_BYTES: usize = 256;
/// The metadata of a memory or entity, as JSON text.
pub const METADATA_BYTES: usize = 64 * 1024;
/// Names of tenants, scopes and butlers. Together with subject and predicate they form B-tree keys, which PostgreSQL
/// limits to 2704 bytes.
pub const NAME_BYTES: usize = 256;
/// The subject of a fact, a part of the B-tree key.
pub const SUBJECT_BYTES: usize = 1024;
/// The predicate of a fact, a part of the B-tree key.
pub const PREDICATE_BYTES: usize = 512;
/// The name of an entity. A longer text was most likely meant for another field.
pub const ENTITY_NAME_BYTES: usize = 512;
/// The aliases in one call. An entity that has more because of merges may be updated with as many as it has.
pub const ALIASES: usize = 64;
/// The aliases an entity can have after merges. All its names together form one indexed text.
pub const MERGED_ALIASES: usize = 1024;
/// A setting or lifetime in days: about a century. Much larger values overflow the arithmetic on timestamps.
pub const DAYS: i64 = 36_500;
/// How far relations are followed.
pub const NEIGHBOR_DEPTH: usize = 3;
/// The relations in one answer.
pub const NEIGHBORS: usize = 500;
/// The ids in one list of `entity_forget`. Without a list, all memories that name the entity are meant.
pub const CHOSEN_IDS: usize = 1000;
/// The reason of a mark or a forget, which is a sentence.
pub const REASON_BYTES: usize = 4 * 1024;
/// The reasons kept in a rule's metadata, newest last. `rule_applications` keeps all of them.
pub const HARMFUL_REASONS: usize = 100;
/// The caller's name for a request, which events and logs contain.
pub const REQUEST_ID_BYTES: usize = 256;
/// The name of a session in `request_context`.
pub const SESSION_ID_BYTES: usize = 256;
/// The caller's key for a request that it may repeat.
pub const IDEMPOTENCY_KEY_BYTES: usize = 256;
