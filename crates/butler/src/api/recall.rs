//! `GET /api/memory/recall?q=`: the query lab. What an agent would be told, with every part of the score.

use domain::{Butler, Scope, validate};
use memory::search::{Hit, Trace};
use memory::{ContextRequest, Memory, RecallInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{Meta, One};
use super::error::ApiError;
use super::operation::{Asked, Operation, Verb};
use crate::access::Right;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Question {
    /// The question, as an agent would ask it.
    q: String,
    /// Whose memory; the first butler's if left out.
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
        let name = match query.butler.clone() {
            Some(name) => name,
            None => {
                let first = asked.butlers(None)?.into_iter().next();
                first.ok_or_else(|| ApiError::unavailable("there is no butler with a memory"))?.name.to_string()
            }
        };
        let (asked, query) = (&asked, &query);
        let heard = asked.each(Some(&name), |memory| async move { answer(asked, &memory, query).await }).await?;
        let view = heard.parts.into_iter().next().map(|(_, view)| view);
        let data = view.ok_or_else(|| ApiError::unavailable(format!("the butler {name} does not answer")))?;
        Ok(One { data, meta: Meta::default() })
    }
}

async fn answer(asked: &Asked, memory: &Memory, question: &Question) -> Result<RecallView, ApiError> {
    let config = memory.config();
    let topic = validate::query("q", &question.q).map_err(ApiError::bad_parameter)?;
    let call = asked.call(memory);
    let input = RecallInput {
        topic: topic.clone(),
        scope: question.scope.clone().map(Scope::new).transpose().map_err(domain::Invalid::from)?,
        limit: question.limit.map_or_else(|| config.retrieval.tool_limit(), |limit| limit.unsigned_abs() as usize),
        min_confidence: question.min_confidence.unwrap_or(config.confidence.retrieval_threshold),
        min_relevance: None,
        explain: true,
    };
    let found = memory.recall_unseen(&call, &input).await?;
    let token_budget =
        question.token_budget.map_or(config.retrieval.context_token_budget, |budget| budget.unsigned_abs() as usize);
    let request = ContextRequest {
        trigger_prompt: topic.clone(),
        butler: Butler::new(question.scope.as_deref().unwrap_or(memory.butler().as_str()))
            .map_err(domain::Invalid::from)?,
        token_budget,
        min_relevance: None,
    };
    let block = memory.context_unseen(&call, &request).await?;
    Ok(RecallView {
        butler: memory.butler().to_string(),
        query: topic,
        results: found.results,
        trace: found.trace,
        context: ContextView { text: block.text, tokens: block.tokens, token_budget },
    })
}
