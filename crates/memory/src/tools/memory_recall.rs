use butler_domain::validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::memory_search::{hops, min_relevance, mode, scope};
use super::times::TimeArguments;
use super::{cut_note, flag, optional};
use crate::recall::RecallInput;
use crate::search::{Hit, Mode, Trace};
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What you are about to do or want to know, in plain words.
    #[schemars(with = "String", length(max = butler_domain::limits::QUERY_BYTES))]
    topic: Value,
    /// Only this scope and the global one. Default: all.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
    /// The maximum number of results, 0–100. Default: 10.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::RESULTS))]
    limit: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    min_confidence: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<String>", extend("enum" = Mode::NAMES))]
    mode: Option<Value>,
    /// See memory_search.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    min_relevance: Option<Value>,
    /// Relations to follow from what it names, 0–3.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::NEIGHBOR_DEPTH))]
    hops: Option<Value>,
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
    /// Also return how each result came about.
    #[schemars(with = "Option<bool>")]
    explain: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Best first.
    results: Vec<Hit>,
    /// What the caller should know about the answer, such as that the topic was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// With explain: timings, weights and the path of each search.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

pub struct MemoryRecall;

impl ToolDefinition for MemoryRecall {
    type Input = Input;
    type Output = Output;

    const NAME: &'static str = "memory_recall";
    const TITLE: &'static str = "Recall";
    const DESCRIPTION: &'static str = "What to know for a topic: the facts and rules that matter most, by \
        relevance, importance, recency and confidence. Call it before acting or answering. What it returns counts \
        as used.";
    const COMMAND: Option<&'static str> = Some("butler recall");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Recall,
        text: "memory_recall returns what is known about a topic, the most useful first.",
    });
    const ALIASES: &'static [(&'static str, &'static str)] = &[("query", "topic")];

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Output, MemoryError> {
        let config = memory.config();
        let limit = optional(input.limit.as_ref(), validate::limit)?;
        let min_confidence = optional(input.min_confidence.as_ref(), validate::min_confidence)?;
        let (topic, cut) = validate::query(validate::string("topic", &input.topic)?);
        let recall = RecallInput {
            topic,
            scope: scope(input.scope.as_ref())?,
            mode: mode(input.mode.as_ref())?.unwrap_or(config.retrieval.recall_mode),
            limit: limit.unwrap_or_else(|| config.retrieval.tool_limit()),
            min_confidence: min_confidence.unwrap_or(config.confidence.retrieval_threshold),
            min_relevance: min_relevance(input.min_relevance.as_ref())?,
            hops: hops(input.hops.as_ref())?.unwrap_or(crate::recall::HOPS),
            explain: flag("explain", input.explain.as_ref())?,
            time_filter: TimeArguments {
                valid_at: &input.valid_at,
                as_of: &input.as_of,
                since: &input.since,
                until: &input.until,
            }
            .read(memory, call.now)?,
        };
        let found = memory.recall(&call, &recall).await?;
        Ok(Output { results: found.results, note: cut_note("topic", cut), trace: found.trace })
    }
}
