use butler_domain::{Scope, validate};
use butler_store::stats::Stats;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Count only this scope: its facts and rules with the global ones, and the episodes of the butler of that name.
    /// Default: everything.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
}

pub struct MemoryStats;

impl ToolDefinition for MemoryStats {
    type Input = Input;
    type Output = Stats;

    const NAME: &'static str = "memory_stats";
    const TITLE: &'static str = "Memory statistics";
    const DESCRIPTION: &'static str = "Count what is remembered, by type and state: episodes (and how long the oldest \
        waits to be learned from), facts, rules. Shows whether memory is healthy, not what it contains.";
    const COMMAND: Option<&'static str> = Some("butler stats");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const INSTRUCTION: Option<Instruction> =
        Some(Instruction { topic: Topic::Inspect, text: "memory_stats counts what is there." });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Stats, MemoryError> {
        let scope = match &input.scope {
            Some(value) => Some(Scope::new(validate::string("scope", value)?).map_err(validate::Invalid::from)?),
            None => None,
        };
        memory.stats(&call, scope.as_ref()).await
    }
}
