use butler_domain::{MemoryType, RuleId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::mark_note;
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::views::RuleView;
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The rule that was followed: its UUID, or the end of it that a context line shows.
    #[schemars(with = "String")]
    rule_id: Value,
    /// Why it helped, in a sentence. At most 4 KiB.
    #[schemars(with = "Option<String>", length(max = butler_domain::limits::REASON_BYTES))]
    reason: Option<Value>,
    /// The situation in which it was applied, such as {"task": "booking"}. Kept with the mark.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    context: Option<Value>,
}

pub struct MemoryMarkHelpful;

impl ToolDefinition for MemoryMarkHelpful {
    type Input = Input;
    type Output = RuleView;

    const NAME: &'static str = "memory_mark_helpful";
    const TITLE: &'static str = "Mark a rule helpful";
    const DESCRIPTION: &'static str = "Say that following a rule led to a good result. It confirms the rule, and enough good \
        results promote it: candidate, established, proven. Call it once for each time the rule was applied.";
    const COMMAND: Option<&'static str> = Some("butler helpful");
    const ANNOTATIONS: Annotations = Annotations::ADD;
    const RIGHT: Right = Right::Write;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Feedback,
        text: "After you followed a rule, say how it went: memory_mark_helpful or memory_mark_harmful, with the \
            reason.",
    });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("id", "rule_id"), ("memory_id", "rule_id")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<RuleView, MemoryError> {
        let id = memory.referred(&call, MemoryType::Rule, "rule_id", &input.rule_id).await?;
        let note = mark_note(input.reason.as_ref(), input.context.as_ref())?;
        let rule = memory.mark_helpful(&call, RuleId(id), &note).await?;
        rule.ok_or(MemoryError::NotFound { memory_type: MemoryType::Rule, id })
    }
}
