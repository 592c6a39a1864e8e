use butler_domain::{MemoryType, RuleId, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::views::RuleView;
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The rule that was followed.
    #[schemars(with = "uuid::Uuid")]
    rule_id: Value,
}

pub struct MemoryMarkHelpful;

impl ToolDefinition for MemoryMarkHelpful {
    type Input = Input;
    type Output = RuleView;

    const NAME: &'static str = "memory_mark_helpful";
    const TITLE: &'static str = "Mark a rule helpful";
    const DESCRIPTION: &'static str = "Say that following a rule led to a good result. Enough good results promote it: \
        candidate, established, proven. Call it once for each time the rule was applied.";
    const ANNOTATIONS: Annotations = Annotations::ADD;
    const RIGHT: Right = Right::Write;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Feedback,
        text: "After you followed a rule, say how it went: memory_mark_helpful or memory_mark_harmful, with the \
            reason.",
    });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "rule_id"), ("memory_id", "rule_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<RuleView, MemoryError> {
        let id = validate::uuid("rule_id", validate::string("rule_id", &input.rule_id)?)?;
        let rule = memory.mark_helpful(&call, RuleId(id)).await?;
        rule.ok_or(MemoryError::NotFound { memory_type: MemoryType::Rule, id })
    }
}
