use butler_domain::validate;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use crate::cleanup::CleanupReport;
use crate::tool::{Annotations, Right, ToolDefinition};
use crate::{Call, Memory, MemoryError};

/// The largest accepted value; it is effectively no limit.
const MOST: usize = 1_000_000_000;

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The maximum number of episodes to keep; the oldest consolidated ones beyond it are deleted. Default: the
    /// configured capacity (10000).
    #[schemars(with = "Option<u64>")]
    max_entries: Option<Value>,
}

pub struct MemoryRunEpisodeCleanup;

impl ToolDefinition for MemoryRunEpisodeCleanup {
    type Input = Input;
    type Output = CleanupReport;

    const NAME: &'static str = "memory_run_episode_cleanup";
    const TITLE: &'static str = "Clean up episodes now";
    const DESCRIPTION: &'static str = "Delete expired episodes and, beyond max_entries, the oldest consolidated ones. \
        Episodes that were not consolidated do not expire. Runs daily by itself.";
    const COMMAND: Option<&'static str> = Some("butler jobs run episode_cleanup");
    const ANNOTATIONS: Annotations =
        Annotations { read_only: false, destructive: true, idempotent: true, open_world: false };
    const RIGHT: Right = Right::Admin;

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<CleanupReport, MemoryError> {
        let given =
            optional(input.max_entries.as_ref(), |value| validate::whole_number("max_entries", value, 0, MOST))?;
        let max_entries = given.map_or(memory.config().episodes.max_entries, |entries| entries as u64);
        memory.run_episode_cleanup(Some(&call.tenant), max_entries, &call.origin).await
    }
}
