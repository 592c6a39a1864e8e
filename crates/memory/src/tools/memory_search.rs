use butler_domain::{MemoryType, Scope, validate};
use butler_store::injections::ServedBy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::times::TimeArguments;
use super::{cut_note, flag, optional};
use crate::search::{Hit, Mode, SearchInput, Trace};
use crate::tool::{Annotations, Instruction, Right, ToolDefinition, Topic};
use crate::{Call, Memory, MemoryError};

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// What to look for, in plain words or as a question.
    #[schemars(with = "String", length(max = butler_domain::limits::QUERY_BYTES))]
    query: Value,
    /// Default: all.
    #[schemars(with = "Option<Vec<MemoryType>>", length(min = 1))]
    types: Option<Value>,
    /// Only this scope and the global one; of episodes, that butler's.
    #[schemars(with = "Option<String>", length(min = 1, max = butler_domain::limits::NAME_BYTES))]
    scope: Option<Value>,
    /// hybrid (default): meaning and words. fused: the same, by score. deep: for turns of a conversation. semantic,
    /// keyword: one alone.
    #[schemars(with = "Option<String>", extend("enum" = Mode::NAMES))]
    mode: Option<Value>,
    /// The maximum number of results, 0–100. Default: 10.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::RESULTS))]
    limit: Option<Value>,
    /// Leave out memories whose confidence has decayed below this, 0–1. Default: 0.2.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    min_confidence: Option<Value>,
    /// Return nothing unless something is this likely to answer, 0–1. Try 0.05.
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    min_relevance: Option<Value>,
    /// Relations to follow from what it names, 0–3.
    #[schemars(with = "Option<u32>", range(min = 0, max = butler_domain::limits::NEIGHBOR_DEPTH))]
    hops: Option<Value>,
    /// What was true then: "2023", "2023-03", a day or a time.
    #[schemars(with = "Option<String>")]
    valid_at: Option<Value>,
    /// What was believed then.
    #[schemars(with = "Option<String>")]
    as_of: Option<Value>,
    /// Only what is newer: a date, or "7d".
    #[schemars(with = "Option<String>")]
    since: Option<Value>,
    /// Only what is older.
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
    /// What the caller should know about the answer, such as that the query was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// With explain: timings and the path of each search.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

pub struct MemorySearch;

impl ToolDefinition for MemorySearch {
    type Input = Input;
    type Output = Output;

    const NAME: &'static str = "memory_search";
    const TITLE: &'static str = "Search memory";
    const DESCRIPTION: &'static str = "Find episodes, facts and rules by meaning and by words. Use it to look \
        around; use memory_recall for what to know before acting. Searching does not count as using a memory.";
    const COMMAND: Option<&'static str> = Some("butler search");
    const ANNOTATIONS: Annotations = Annotations::READ;
    const RIGHT: Right = Right::Read;
    const CORE: bool = true;
    const EMBEDS: bool = true;
    const INSTRUCTION: Option<Instruction> = Some(Instruction {
        topic: Topic::Recall,
        text: "memory_search finds memories by words or meaning; narrow it by types and scope.",
    });

    async fn run(memory: &Memory, call: Call, input: Input) -> Result<Output, MemoryError> {
        let config = memory.config();
        let limit = optional(input.limit.as_ref(), validate::limit)?;
        let min_confidence = optional(input.min_confidence.as_ref(), validate::min_confidence)?;
        let (query, cut) = validate::query(validate::string("query", &input.query)?);
        let search = SearchInput {
            query,
            types: types(input.types.as_ref())?,
            scope: scope(input.scope.as_ref())?,
            mode: mode(input.mode.as_ref())?.unwrap_or(config.retrieval.default_mode),
            limit: limit.unwrap_or_else(|| config.retrieval.tool_limit()),
            min_confidence: min_confidence.unwrap_or(config.confidence.retrieval_threshold),
            min_relevance: min_relevance(input.min_relevance.as_ref())?,
            hops: hops(input.hops.as_ref())?.unwrap_or(0),
            explain: flag("explain", input.explain.as_ref())?,
            time_filter: TimeArguments {
                valid_at: &input.valid_at,
                as_of: &input.as_of,
                since: &input.since,
                until: &input.until,
            }
            .read(memory, call.now)?,
            holding: false,
        };
        let found = memory.search(&call, &search).await?;
        memory.serve_hits(&call, ServedBy::Search, &search.query, &found.results);
        Ok(Output { results: found.results, note: cut_note("query", cut), trace: found.trace })
    }
}

/// The types to search, without duplicates; all types if the argument is omitted.
fn types(value: Option<&Value>) -> Result<Vec<MemoryType>, validate::Invalid> {
    let Some(names) = optional(value, |value| names("types", value))? else { return Ok(MemoryType::ALL.to_vec()) };
    if names.is_empty() {
        return Err(validate::Invalid::new("types", "names no type").hint("leave it out to search all types"));
    }
    let mut types = Vec::new();
    for name in names {
        let kind = validate::one_of("types", &name)?;
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    Ok(types)
}

/// Reads a list, a list as a JSON string, or names separated by commas.
fn names(field: &str, value: &Value) -> Result<Vec<String>, validate::Invalid> {
    let wrong = || {
        validate::Invalid::new(field, "must be a list of episode, fact, rule").hint(r#"for example ["fact", "rule"]"#)
    };
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => names(field, &list),
            _ => {
                let names = text.split([',', ';', '|', ' ']).filter(|name| !name.is_empty() && *name != "and");
                Ok(names.map(str::to_owned).collect())
            }
        },
        _ => Err(wrong()),
    }
}

pub(super) fn scope(value: Option<&Value>) -> Result<Option<Scope>, validate::Invalid> {
    optional(value, |value| Ok(Scope::new(validate::string("scope", value)?)?))
}

pub(super) fn mode(value: Option<&Value>) -> Result<Option<Mode>, validate::Invalid> {
    optional(value, |value| validate::one_of("mode", validate::string("mode", value)?))
}

pub(super) fn hops(value: Option<&Value>) -> Result<Option<usize>, validate::Invalid> {
    optional(value, validate::hops)
}

pub(super) fn min_relevance(value: Option<&Value>) -> Result<Option<f64>, validate::Invalid> {
    optional(value, |value| validate::number("min_relevance", value, 0.0, 1.0))
}
