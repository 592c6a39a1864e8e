use butler_domain::{MemoryType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Forgotten, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What kind of memory the id belongs to.
    #[schemars(with = "MemoryType")]
    memory_type: Value,
    /// The memory's UUID, as another tool returned it.
    #[schemars(with = "uuid::Uuid")]
    memory_id: Value,
}

pub struct MemoryForget;

impl ToolDefinition for MemoryForget {
    type Input = Input;
    type Output = Forgotten;

    const NAME: &'static str = "memory_forget";
    const TITLE: &'static str = "Forget a memory";
    const DESCRIPTION: &'static str = "Exclude an episode, fact or rule from every later search, recall and context. It \
        stays readable by its id for the record. Forgetting it again is not an error. To correct a fact, store the right one \
        with memory_store_fact instead.";
    const COMMAND: Option<&'static str> = Some("butler forget");
    const ANNOTATIONS: Annotations =
        Annotations { read_only: false, destructive: true, idempotent: true, open_world: false };
    const RIGHT: Right = Right::Write;
    const CORE: bool = true;
    const INSTRUCTION: Option<Instruction> =
        Some(Instruction { topic: Topic::Feedback, text: "memory_forget removes what is wrong or unwanted." });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "memory_type"), ("id", "memory_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Forgotten, MemoryError> {
        let memory_type = validate::one_of("memory_type", validate::string("memory_type", &input.memory_type)?)?;
        let id = validate::uuid("memory_id", validate::string("memory_id", &input.memory_id)?)?;
        memory.forget(&call, memory_type, id).await?.ok_or(MemoryError::NotFound { memory_type, id })
    }
}
