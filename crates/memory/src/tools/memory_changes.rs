use butler_domain::{Scope, validate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::optional;
use super::times::text;
use crate::changes::{Changes, ChangesInput};
use crate::times::TimeFilterTexts;
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// Since when: a date, a time, or how long ago ("7d", "12h").
    #[schemars(with = "String")]
    since: Option<Value>,
    /// Until when. Default: now.
    #[schemars(with = "Option<String>")]
    until: Option<Value>,
    /// Only this scope and the global one. Default: all.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
    /// The maximum number of tokens, newest changes first. Default: 2000.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::TOKEN_BUDGET))]
    token_budget: Option<Value>,
}

/// Enough for a busy week.
const TOKEN_BUDGET: usize = 2000;

pub struct MemoryChanges;

impl ToolDefinition for MemoryChanges {
    type Input = Input;
    type Output = Changes;

    const NAME: &'static str = "memory_changes";
    const TITLE: &'static str = "What changed";
    const DESCRIPTION: &'static str = "What was learned, changed, contradicted, faded and forgotten since a time, by \
        entity, newest first. Read it when you come back after a while.";
    const COMMAND: Option<&'static str> = Some("butler changes");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const INSTRUCTION: Option<Instruction> =
        Some(Instruction { topic: Topic::Inspect, text: "memory_changes lists what changed since a time." });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Changes, MemoryError> {
        let (since, until) = (text("since", &input.since)?, text("until", &input.until)?);
        let texts = TimeFilterTexts { since: since.as_deref(), until: until.as_deref(), ..TimeFilterTexts::default() };
        let time_filter = memory.time_filter(call.now, texts)?;
        memory.since(call.now, "since", since.as_deref())?;
        let missing = || validate::Invalid::new("since", "is required").hint("a date, or how long ago: \"7d\"");
        let scope = optional(input.scope.as_ref(), |value| Ok(Scope::new(validate::string("scope", value)?)?))?;
        let changes = ChangesInput {
            since: time_filter.since.ok_or_else(missing)?,
            until: time_filter.until,
            scope,
            token_budget: optional(input.token_budget.as_ref(), validate::token_budget)?.unwrap_or(TOKEN_BUDGET),
        };
        memory.changes(&call, &changes).await
    }
}
