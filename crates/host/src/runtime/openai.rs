//! The chat completions API of OpenAI-compatible servers: OpenAI, Ollama, vLLM, llama.cpp.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use butler_memory::runtime::{Completion, Runtime, RuntimeError, Session};
use futures::future::{BoxFuture, FutureExt};
use hyper::http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::http::{ApiKey, Endpoint, Retries};

/// The ways to request JSON, strictest first. If a server rejects one, the next is tried.
const FORMATS: [Format; 4] = [Format::Schema, Format::SchemaInObject, Format::Object, Format::Plain];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Schema,
    /// JSON mode with an additional schema, as in llama.cpp's Python server and with some hosting providers.
    SchemaInObject,
    Object,
    Plain,
}

pub struct OpenAiRuntime {
    endpoint: Endpoint,
    model: String,
    /// Index in [`FORMATS`] of the strictest format that this server has accepted.
    accepted: AtomicU8,
}

impl OpenAiRuntime {
    pub fn new(
        base_url: &str,
        model: &str,
        key: Option<ApiKey>,
        timeout: Duration,
        retries: Retries,
    ) -> Result<Self, RuntimeError> {
        let mut endpoint = Endpoint::new(&format!("{}/chat/completions", with_version(base_url)), timeout, retries)?;
        if let Some(key) = key {
            endpoint.header(AUTHORIZATION, key.header("Bearer ")?);
        }
        Ok(Self { endpoint, model: model.to_owned(), accepted: AtomicU8::new(0) })
    }

    async fn run(&self, session: Session) -> Result<Completion, RuntimeError> {
        if session.schema.is_none() {
            return self.ask(&session, Format::Plain).await;
        }
        let first = usize::from(self.accepted.load(Ordering::Relaxed)).min(FORMATS.len() - 1);
        let mut refusal = None;
        for (index, format) in FORMATS.iter().enumerate().skip(first) {
            match self.ask(&session, *format).await {
                Err(error) if refuses_format(&error) && *format != Format::Plain => refusal = Some(error),
                outcome => {
                    if outcome.is_ok() {
                        self.accepted.store(u8::try_from(index).unwrap_or(u8::MAX), Ordering::Relaxed);
                    }
                    return outcome;
                }
            }
        }
        Err(refusal.unwrap_or_else(|| RuntimeError::Misconfigured("no response format is left".to_owned())))
    }

    async fn ask(&self, session: &Session, format: Format) -> Result<Completion, RuntimeError> {
        let mut messages = Vec::new();
        if let Some(system) = &session.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.push(json!({"role": "user", "content": session.prompt}));
        let mut body = json!({"model": self.model, "messages": messages});
        match (format, &session.schema) {
            (Format::Schema, Some(schema)) => {
                let schema = json!({"name": "answer", "strict": true, "schema": schema});
                body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
            }
            (Format::SchemaInObject, Some(schema)) => {
                body["response_format"] = json!({"type": "json_object", "schema": schema});
            }
            (Format::Object, _) => body["response_format"] = json!({"type": "json_object"}),
            _ => {}
        }
        let answer = self.endpoint.post(&body).await?;
        completion(&answer).ok_or_else(|| RuntimeError::Malformed {
            url: self.endpoint.url.to_string(),
            reason: "choices[0].message.content is missing".to_owned(),
        })
    }
}

impl Runtime for OpenAiRuntime {
    fn describe(&self) -> String {
        format!("the model {} at {}", self.model, self.endpoint.url)
    }

    fn complete(&self, session: Session) -> BoxFuture<'_, Result<Completion, RuntimeError>> {
        self.run(session).boxed()
    }
}

/// Appends `/v1` to a URL without a path, because people configure `http://localhost:11434`.
fn with_version(base_url: &str) -> String {
    let base = base_url.trim_end_matches('/');
    match base.split_once("://") {
        Some((_, rest)) if !rest.contains('/') => format!("{base}/v1"),
        _ => base.to_owned(),
    }
}

/// Whether a simpler response format may succeed: the server rejected the request or failed on the grammar. Wrong keys,
/// exceeded quotas and missing models have other causes.
fn refuses_format(error: &RuntimeError) -> bool {
    match error {
        RuntimeError::Refused { status: 400 | 415 | 422 | 501, .. } => true,
        RuntimeError::Refused { status: 500.., body, .. } => {
            ["response_format", "json_schema", "schema", "grammar"].iter().any(|word| body.contains(word))
        }
        _ => false,
    }
}

fn completion(answer: &Value) -> Option<Completion> {
    let content = answer.get("choices")?.get(0)?.get("message")?.get("content")?;
    let text = match content {
        Value::String(text) => text.clone(),
        // Some servers return the text in parts.
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => return None,
    };
    let count = |name: &str| answer.get("usage")?.get(name)?.as_u64();
    Some(Completion { text, tokens_in: count("prompt_tokens"), tokens_out: count("completion_tokens") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_appended_to_a_url_without_a_path() {
        assert_eq!(with_version("http://localhost:11434"), "http://localhost:11434/v1");
        assert_eq!(with_version("http://localhost:11434/"), "http://localhost:11434/v1");
        assert_eq!(with_version("https://host/openai/v1/"), "https://host/openai/v1");
    }

    #[test]
    fn a_response_in_parts_is_joined() {
        let answer = json!({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]});
        assert_eq!(completion(&answer).unwrap().text, "ab");
        assert_eq!(completion(&json!({"choices": []})), None);
    }
}
