//! `POST /api/llm-test`: asks a butler's LLM for one word, to test the connection.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use butler_host::access::Right;
use butler_memory::runtime::Session;
use butler_memory::tool::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::envelope::{Single, WithHome};
use super::error::ApiError;
use super::facts::ButlerQuery;
use super::operation::{Operation, RequestContext, Verb};
use crate::http::HttpCode;

/// A person waits for the result.
const WAIT: Duration = Duration::from_secs(60);
/// Enough to see what an LLM says that does not follow the prompt.
const SHOWN_CHARS: usize = 200;
const PROMPT: &str = "This is a connection test. Answer with the single word: ready";

#[derive(Debug, Serialize, JsonSchema)]
pub struct LlmAnswer {
    /// The program, or the model and its endpoint.
    pub runtime: String,
    /// The beginning of its answer.
    pub answer: String,
    pub took_ms: u64,
}

pub struct TestLlm;

impl Operation for TestLlm {
    type Path = ();
    type Query = ButlerQuery;
    type Body = ();
    type Answer = Single<WithHome<LlmAnswer>>;

    const ID: &'static str = "testLlm";
    const VERB: Verb = Verb::Post;
    const PATH: &'static str = "/api/llm-test";
    const TAG: &'static str = "server";
    const SUMMARY: &'static str = "Ask the LLM of a butler for one word. Default: the first butler that has one.";
    const RIGHT: Right = Right::Admin;

    async fn run(ctx: RequestContext, (): (), query: ButlerQuery, (): ()) -> Result<Self::Answer, ApiError> {
        for butler in ctx.butlers(query.butler.as_deref())? {
            let Some(memory) = butler.memory().await else { continue };
            let Some(runtime) = memory.runtime() else { continue };
            let started = Instant::now();
            let answer = tokio::time::timeout(WAIT, runtime.complete(Session::new("trigger", PROMPT))).await;
            let completion = match answer {
                Ok(Ok(completion)) => completion,
                Ok(Err(error)) => return Err(failed(&error.to_string(), error.hint())),
                Err(_) => return Err(failed(&format!("no answer within {} s", WAIT.as_secs()), None)),
            };
            let item = LlmAnswer {
                runtime: runtime.describe(),
                answer: completion.text.trim().chars().take(SHOWN_CHARS).collect(),
                took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            };
            return Ok(Single::new(WithHome { home: butler.name.to_string(), item }));
        }
        Err(ApiError::new(StatusCode::CONFLICT, ErrorCode::InvalidState, "no LLM is configured")
            .hint("add [butler.runtime] to butler.toml and restart the server"))
    }
}

fn failed(reason: &str, hint: Option<String>) -> ApiError {
    let error =
        ApiError::new(StatusCode::BAD_GATEWAY, HttpCode::LlmFailed, format!("the LLM did not answer: {reason}"));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
