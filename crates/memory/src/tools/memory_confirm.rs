use butler_domain::{MemoryType, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Confirmed, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// fact or rule; episodes do not decay, so they cannot be confirmed.
    #[schemars(with = "MemoryType")]
    memory_type: Value,
    /// The memory's UUID, as another tool returned it.
    #[schemars(with = "uuid::Uuid")]
    memory_id: Value,
}

pub struct MemoryConfirm;

impl ToolDefinition for MemoryConfirm {
    type Input = Input;
    type Output = Confirmed;

    const NAME: &'static str = "memory_confirm";
    const TITLE: &'static str = "Confirm a memory";
    const DESCRIPTION: &'static str = "Confirm that a fact or rule still holds: its confidence is restored and its decay \
        restarts. Use it whenever a remembered fact proves true again. A superseded, expired or forgotten memory cannot be \
        confirmed; store it again instead.";
    const COMMAND: Option<&'static str> = Some("butler confirm");
    const ANNOTATIONS: Annotations = Annotations::SETTLE;
    const RIGHT: Right = Right::Write;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Feedback,
        text: "memory_confirm keeps a memory that proved right from fading.",
    });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("type", "memory_type"), ("id", "memory_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Confirmed, MemoryError> {
        let memory_type = validate::one_of("memory_type", validate::string("memory_type", &input.memory_type)?)?;
        let id = validate::uuid("memory_id", validate::string("memory_id", &input.memory_id)?)?;
        memory.confirm(&call, memory_type, id).await?.ok_or(MemoryError::NotFound { memory_type, id })
    }
}
