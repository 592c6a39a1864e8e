//! The MCP tools, one file each.

mod entity_create;
mod entity_get;
mod entity_merge;
mod entity_resolve;
mod entity_update;
mod memory_confirm;
mod memory_context;
mod memory_forget;
mod memory_get;
mod memory_mark_harmful;
mod memory_mark_helpful;
mod memory_recall;
mod memory_run_consolidation;
mod memory_run_episode_cleanup;
mod memory_search;
mod memory_stats;
mod memory_store_episode;
mod memory_store_fact;
mod memory_store_rule;

use butler_domain::Butler;
use butler_domain::validate::{self, Invalid};
use serde_json::Value;

use crate::tool::{Tool, boxed};

/// The importance of a memory whose caller does not set one.
const DEFAULT_IMPORTANCE: f64 = 5.0;

/// Reads an optional argument. Null counts as omitted.
fn optional<T>(value: Option<&Value>, read: impl FnOnce(&Value) -> Result<T, Invalid>) -> Result<Option<T>, Invalid> {
    value.filter(|value| !value.is_null()).map(read).transpose()
}

/// The butler that a memory comes from.
fn butler(value: &Value) -> Result<String, Invalid> {
    const FIELD: &str = "source_butler";
    let named = Butler::new(validate::string(FIELD, value)?);
    named.map(String::from).map_err(|error| Invalid::new(FIELD, error.to_string()))
}

/// All tools of the module, in the order in which clients list them.
pub fn tools() -> Vec<Box<dyn Tool>> {
    vec![
        boxed::<memory_store_episode::MemoryStoreEpisode>(),
        boxed::<memory_store_fact::MemoryStoreFact>(),
        boxed::<memory_store_rule::MemoryStoreRule>(),
        boxed::<memory_context::MemoryContext>(),
        boxed::<memory_recall::MemoryRecall>(),
        boxed::<memory_search::MemorySearch>(),
        boxed::<memory_get::MemoryGet>(),
        boxed::<memory_confirm::MemoryConfirm>(),
        boxed::<memory_mark_helpful::MemoryMarkHelpful>(),
        boxed::<memory_mark_harmful::MemoryMarkHarmful>(),
        boxed::<memory_forget::MemoryForget>(),
        boxed::<memory_stats::MemoryStats>(),
        boxed::<entity_create::EntityCreate>(),
        boxed::<entity_get::EntityGet>(),
        boxed::<entity_update::EntityUpdate>(),
        boxed::<entity_resolve::EntityResolve>(),
        boxed::<entity_merge::EntityMerge>(),
        boxed::<memory_run_consolidation::MemoryRunConsolidation>(),
        boxed::<memory_run_episode_cleanup::MemoryRunEpisodeCleanup>(),
    ]
}
