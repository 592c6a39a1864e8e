//! `GET /api/memory/recall?q=`: the query lab. What an agent would be told, with every part of the score.

use butler_domain::{Butler, Scope, validate};
use butler_host::access::Right;
use butler_memory::search::{Hit, Trace};
use butler_memory::{ContextRequest, Memory, RecallInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Meta, One};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, as an agent would ask it.
    q: String,
    /// Whose memory; if left out, that of the first butler that is there.
    butler: Option<String>,
    /// Only this scope and the global one. All if left out.
    scope: Option<String>,
    /// The most results; 10 if left out.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<i64>,
    /// Leave out what has decayed below this; the retrieval threshold if left out.
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: Option<f64>,
    /// Of the context block; the configured one if left out.
    #[schemars(range(min = 1, max = 100_000))]
    token_budget: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RecallView {
    pub butler: String,
    pub query: String,
    /// Best first, each with its two ranks, their fusion and the four parts of its score.
    pub results: Vec<Hit>,
    /// Weights, timings and which way each search took.
    pub trace: Option<Trace>,
    pub context: ContextView,
}

/// The block a session of this butler would begin with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextView {
    pub text: String,
    pub tokens: usize,
    pub token_budget: usize,
}

pub struct Recall;

impl Operation for Recall {
    type Path = ();
    type Query = Question;
    type Body = ();
    type Answer = One<RecallView>;

    const ID: &'static str = "recallMemory";
    const VERB: Verb = Verb::Get;
    const PATH: &'static str = "/api/memory/recall";
    const TAG: &'static str = "search";
    const SUMMARY: &'static str = "The query lab: ranks, fusion, the parts of each score, and the exact context block.";
    const RIGHT: Right = Right::Read;

    async fn run(asked: Asked, (): (), query: Question, (): ()) -> Result<Self::Answer, ApiError> {
        let named: Vec<String> = match query.butler.clone() {
            Some(name) => vec![name],
            None => asked.butlers(None)?.iter().map(|butler| butler.name.to_string()).collect(),
        };
        let (asked, query) = (&asked, &query);
        let mut unavailable = Vec::new();
        let mut last = ApiError::unavailable("there is no butler with a memory");
        for name in named {
            match asked.each(Some(&name), |memory| async move { answer(asked, &memory, query).await }).await {
                Ok(heard) => {
                    if let Some((_, data)) = heard.parts.into_iter().next() {
                        return Ok(One { data, meta: Meta { unavailable } });
                    }
                }
                // the next one is asked, and the answer names this one
                Err(error) if error.is_unavailable() => {
                    unavailable.push(name);
                    last = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

async fn answer(asked: &Asked, memory: &Memory, question: &Question) -> Result<RecallView, ApiError> {
    let config = memory.config();
    let topic = validate::query("q", &question.q).map_err(ApiError::bad_parameter)?;
    let call = asked.call(memory);
    let input = RecallInput {
        topic: topic.clone(),
        scope: question.scope.clone().map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
        limit: question.limit.map_or_else(|| config.retrieval.tool_limit(), |limit| limit.unsigned_abs() as usize),
        min_confidence: question.min_confidence.unwrap_or(config.confidence.retrieval_threshold),
        min_relevance: None,
        explain: true,
    };
    let found = memory.recall_uncounted(&call, &input).await?;
    let token_budget =
        question.token_budget.map_or(config.retrieval.context_token_budget, |budget| budget.unsigned_abs() as usize);
    let request = ContextRequest {
        trigger_prompt: topic.clone(),
        butler: Butler::new(question.scope.as_deref().unwrap_or(memory.butler().as_str()))
            .map_err(butler_domain::Invalid::from)?,
        token_budget,
        min_relevance: None,
    };
    let block = memory.context_uncounted(&call, &request).await?;
    Ok(RecallView {
        butler: memory.butler().to_string(),
        query: topic,
        results: found.results,
        trace: found.trace,
        context: ContextView { text: block.text, tokens: block.tokens, token_budget },
    })
}
