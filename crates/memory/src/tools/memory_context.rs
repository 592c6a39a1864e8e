use butler_domain::{Butler, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory_search::{hops, min_relevance, mode};
use super::optional;
use super::times::{TimeArguments, text};
use crate::context::ContextRequest;
use crate::search::Mode;
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What the session is about: its first prompt.
    #[schemars(with = "String")]
    trigger_prompt: Value,
    /// Whose session it is. The block uses its memories and the global ones.
    #[schemars(with = "String", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    butler: Value,
    /// The maximum number of tokens. Default: 3000.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::TOKEN_BUDGET))]
    token_budget: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>", extend("enum" = Mode::NAMES))]
    mode: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    min_relevance: Option<Value>,
    /// Relations to follow from what it names, 0–3.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::NEIGHBOR_DEPTH))]
    hops: Option<Value>,
    /// Also say what changed since: a date, or "7d".
    #[schemars(with = "Option<String>")]
    changes_since: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>")]
    valid_at: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>")]
    as_of: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>")]
    since: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>")]
    until: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The block, ready to stand in front of a prompt.
    context: String,
    /// The number of tokens in it.
    tokens: usize,
}

pub struct MemoryContext;

impl ToolDefinition for MemoryContext {
    type Input = Input;
    type Output = Output;

    const NAME: &'static str = "memory_context";
    const TITLE: &'static str = "Memory context";
    const DESCRIPTION: &'static str = "A block of text with the facts, rules and recent episodes that matter for a \
        session, within a token budget, to be put in front of its prompt.";
    const COMMAND: Option<&'static str> = Some("butler context");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::SessionStart,
        text: "When a session begins or its topic changes, call memory_context with the user's words and read what \
            it returns before you answer.",
    });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Output, MemoryError> {
        let token_budget = optional(input.token_budget.as_ref(), validate::token_budget)?;
        let butler = Butler::new(validate::string("butler", &input.butler)?).map_err(validate::Invalid::from)?;
        let changes_since =
            memory.since(call.now, "changes_since", text("changes_since", &input.changes_since)?.as_deref())?;
        let request = ContextRequest {
            trigger_prompt: validate::query(validate::string("trigger_prompt", &input.trigger_prompt)?).0,
            butler,
            mode: mode(input.mode.as_ref())?.unwrap_or(memory.config().retrieval.recall_mode),
            token_budget: token_budget.unwrap_or(memory.config().retrieval.context_token_budget),
            min_relevance: min_relevance(input.min_relevance.as_ref())?,
            hops: hops(input.hops.as_ref())?.unwrap_or(crate::recall::HOPS),
            time_filter: TimeArguments {
                valid_at: &input.valid_at,
                as_of: &input.as_of,
                since: &input.since,
                until: &input.until,
            }
            .read(memory, call.now)?,
            changes_since,
        };
        let block = memory.context(&call, &request).await?;
        Ok(Output { context: block.text, tokens: block.tokens })
    }

    fn text(output: &Output) -> Option<String> {
        Some(output.context.clone())
    }
}
