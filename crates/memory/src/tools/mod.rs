//! The MCP tools, one file each.

use butler_domain::validate::{self, Invalid};
use butler_domain::{Butler, limits};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::MarkNote;
use crate::tool::Tool;

pub(crate) mod times;

/// Declares the module of every tool and the list of them.
macro_rules! tools {
    ($($file:ident::$tool:ident),* $(,)?) => {
        $(pub(crate) mod $file;)*

        /// Every tool of the module, in the order in which clients list them.
        pub fn tools() -> Vec<Tool> {
            vec![$(Tool::of::<$file::$tool>()),*]
        }
    };
}

// A new tool is a new file here and one line in this list.
tools! {
    memory_store_episode::MemoryStoreEpisode,
    memory_store_fact::MemoryStoreFact,
    memory_store_rule::MemoryStoreRule,
    memory_context::MemoryContext,
    memory_recall::MemoryRecall,
    memory_search::MemorySearch,
    memory_get::MemoryGet,
    memory_changes::MemoryChanges,
    memory_conflicts::MemoryConflicts,
    memory_confirm::MemoryConfirm,
    memory_mark_helpful::MemoryMarkHelpful,
    memory_mark_harmful::MemoryMarkHarmful,
    memory_forget::MemoryForget,
    memory_stats::MemoryStats,
    entity_create::EntityCreate,
    entity_get::EntityGet,
    entity_update::EntityUpdate,
    entity_resolve::EntityResolve,
    entity_merge::EntityMerge,
    entity_unmerge::EntityUnmerge,
    entity_forget::EntityForget,
    entity_neighbors::EntityNeighbors,
    memory_predicates::MemoryPredicates,
    memory_review::MemoryReview,
    memory_run_consolidation::MemoryRunConsolidation,
    memory_run_episode_cleanup::MemoryRunEpisodeCleanup,
}

/// The importance of a memory whose caller does not set one.
const DEFAULT_IMPORTANCE: f64 = 5.0;

/// Reads an optional argument. Null counts as omitted.
fn optional<T>(value: Option<&Value>, read: impl FnOnce(&Value) -> Result<T, Invalid>) -> Result<Option<T>, Invalid> {
    value.filter(|value| !value.is_null()).map(read).transpose()
}

/// Reads an optional id. A blank text counts as omitted, because many models send one for every id they do not have.
fn optional_id(field: &str, value: Option<&Value>) -> Result<Option<Uuid>, Invalid> {
    let given = value.filter(|value| !validate::is_omitted(value));
    optional(given, |value| validate::uuid(field, validate::string(field, value)?))
}

/// The reason of a mark and its context. A context given as text is kept under the key `text`.
fn mark_note(reason: Option<&Value>, context: Option<&Value>) -> Result<MarkNote, Invalid> {
    let reason = optional(reason, |value| validate::reason(validate::string("reason", value)?))?.flatten();
    let context = match context {
        Some(Value::String(text)) if text.trim().is_empty() => Map::new(),
        Some(Value::String(text)) if !text.trim_start().starts_with('{') => {
            validate::small_object("context", &json!({ "text": text }))?
        }
        Some(value) => validate::small_object("context", value)?,
        None => Map::new(),
    };
    Ok(MarkNote { reason, context })
}

/// A flag; false if it is omitted.
fn flag(field: &str, value: Option<&Value>) -> Result<bool, Invalid> {
    Ok(optional(value, |value| validate::flag(field, value))?.unwrap_or(false))
}

/// Says that a query was cut.
fn cut_note(field: &str, cut: bool) -> Option<String> {
    let bytes = limits::QUERY_BYTES;
    cut.then(|| format!("{field} was longer than {bytes} bytes; only its beginning was used"))
}

/// The butler that a memory comes from.
fn butler(value: &Value) -> Result<String, Invalid> {
    const FIELD: &str = "source_butler";
    let named = Butler::new(validate::string(FIELD, value)?);
    named.map(String::from).map_err(|error| Invalid { field: FIELD.to_owned(), ..Invalid::from(error) })
}
