//! The MCP tools, one file each.

mod memory_get;
mod memory_stats;
mod memory_store_episode;

use crate::tool::{Tool, boxed};

/// Every tool of the module, in the order clients list them.
pub fn tools() -> Vec<Box<dyn Tool>> {
    vec![
        boxed::<memory_store_episode::MemoryStoreEpisode>(),
        boxed::<memory_get::MemoryGet>(),
        boxed::<memory_stats::MemoryStats>(),
    ]
}
