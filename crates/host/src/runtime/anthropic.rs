//! The Messages API of Anthropic.

use std::time::Duration;

use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use futures::future::{BoxFuture, FutureExt};
use hyper::http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::http::{ApiKey, Endpoint, Retries};

pub const BASE_URL: &str = "https://api.anthropic.com";
/// The version of the API that this module uses.
const VERSION: &str = "2023-06-01";
/// The API requires a limit; this is enough for the response to a full batch.
const MAX_TOKENS: u32 = 8192;

pub struct AnthropicRuntime {
    endpoint: Endpoint,
    model: String,
}

impl AnthropicRuntime {
    pub fn new(
        base_url: &str,
        model: &str,
        key: &ApiKey,
        timeout: Duration,
        retries: Retries,
    ) -> Result<Self, RuntimeError> {
        let base = base_url.trim_end_matches('/').trim_end_matches("/v1");
        let mut endpoint = Endpoint::new(&format!("{base}/v1/messages"), timeout, retries)?;
        endpoint.header(HeaderName::from_static("x-api-key"), key.header("")?);
        endpoint.header(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION));
        Ok(Self { endpoint, model: model.to_owned() })
    }

    async fn run(&self, session: Session) -> Result<Completion, RuntimeError> {
        let mut body = json!({
            "model": self.model,
            "max_tokens": MAX_TOKENS,
            "messages": [{"role": "user", "content": session.prompt}],
        });
        if let Some(system) = &session.system {
            body["system"] = json!(system);
        }
        let answer = self.endpoint.post(&body).await?;
        completion(&answer).ok_or_else(|| RuntimeError::Malformed {
            url: self.endpoint.url.to_string(),
            reason: "content is not a list of blocks".to_owned(),
        })
    }
}

impl Runtime for AnthropicRuntime {
    fn describe(&self) -> String {
        format!("the model {} at {}", self.model, self.endpoint.url)
    }

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        self.run(session).boxed()
    }
}

fn completion(answer: &Value) -> Option<Completion> {
    let blocks = answer.get("content")?.as_array()?;
    let text = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    let count = |name: &str| answer.get("usage")?.get(name)?.as_u64();
    Some(Completion { text, tokens_in: count("input_tokens"), tokens_out: count("output_tokens") })
}
