use butler_domain::{MemoryType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::views::MemoryView;
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What kind of memory the id belongs to.
    #[schemars(with = "MemoryType")]
    memory_type: Value,
    /// The memory's UUID, as another tool returned it, or the end of it that a context line shows.
    #[schemars(with = "String")]
    memory_id: Value,
}

pub struct MemoryGet;

impl ToolDefinition for MemoryGet {
    type Input = Input;
    type Output = MemoryView;

    const NAME: &'static str = "memory_get";
    const TITLE: &'static str = "Get a memory";
    const DESCRIPTION: &'static str = "Read one episode, fact or rule in full by its id, whatever its state. \
        Facts and rules come with effective_confidence, the confidence left after decay. Looking at a memory counts as \
        a use of it, which keeps it near the top of later recalls.";
    const COMMAND: Option<&'static str> = Some("butler get");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const INSTRUCTION: Option<Instruction> =
        Some(Instruction { topic: Topic::Inspect, text: "memory_get reads one memory by its type and id." });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "memory_type"), ("id", "memory_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<MemoryView, MemoryError> {
        let memory_type = validate::one_of("memory_type", validate::string("memory_type", &input.memory_type)?)?;
        let id = memory.referred(&call, memory_type, "memory_id", &input.memory_id).await?;
        memory.get(&call, memory_type, id).await?.ok_or(MemoryError::NotFound { memory_type, id })
    }
}
