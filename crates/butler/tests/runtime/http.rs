use std::time::{Duration, Instant};

use butler_host::runtime::{AnthropicRuntime, ApiKey, OpenAiRuntime, Retries};
use butler_memory::runtime::{Runtime, RuntimeError, Session};
use serde_json::{Value, json};

use crate::endpoint::{Endpoint, Reply, chat};

const QUICK: Retries = Retries { attempts: 4, first_wait: Duration::from_millis(5) };
const LONG: Duration = Duration::from_secs(90);

fn openai(endpoint: &Endpoint) -> OpenAiRuntime {
    OpenAiRuntime::new(&endpoint.url, "small", None, LONG, QUICK).unwrap()
}

fn session() -> Session {
    Session { schema: Some(json!({"type": "object"})), ..Session::new("schedule:consolidation", "the prompt") }
}

fn formats(endpoint: &Endpoint) -> Vec<Value> {
    endpoint.requests().into_iter().map(|(_, body)| body["response_format"]["type"].clone()).collect()
}

#[tokio::test]
async fn an_openai_request_carries_the_schema_and_counts_tokens() {
    let endpoint = Endpoint::start([chat("{}")]).await;
    let answer = openai(&endpoint).complete(session()).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.tokens_in, answer.tokens_out), ("{}", Some(7), Some(3)));
    let (head, body) = &endpoint.requests()[0];
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(body["model"], "small");
    assert_eq!(body["messages"], json!([{"role": "user", "content": "the prompt"}]));
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
}

#[tokio::test]
async fn a_server_that_rejects_the_schema_gets_json_mode_then_plain_requests() {
    let refused = || Reply::Json(400, json!({"error": {"message": "unknown response_format"}}));
    let endpoint = Endpoint::start([refused(), refused(), refused(), chat("plain")]).await;
    let runtime = openai(&endpoint);
    assert_eq!(runtime.complete(session()).await.unwrap().text, "plain");
    assert_eq!(formats(&endpoint), [json!("json_schema"), json!("json_object"), json!("json_object"), Value::Null]);
    runtime.complete(session()).await.unwrap();
    assert_eq!(formats(&endpoint).len(), 5, "the accepted format is remembered");
}

#[tokio::test]
async fn the_schema_is_sent_with_json_mode_if_the_server_accepts_it_only_there() {
    let refused = Reply::Json(422, json!({"detail": [{"msg": "Input should be 'text' or 'json_object'"}]}));
    let endpoint = Endpoint::start([refused, chat("{}")]).await;
    openai(&endpoint).complete(session()).await.unwrap();
    let format = endpoint.requests()[1].1["response_format"].clone();
    assert_eq!(format, json!({"type": "json_object", "schema": {"type": "object"}}));
}

#[tokio::test]
async fn a_request_rejected_in_every_format_is_an_error_and_does_not_change_the_format() {
    let endpoint = Endpoint::start([Reply::Json(400, json!({"error": "the context is too long"}))]).await;
    let runtime = openai(&endpoint);
    let error = runtime.complete(session()).await.unwrap_err();
    assert!(error.to_string().contains("answered 400") && error.to_string().contains("too long"), "{error}");
    runtime.complete(session()).await.unwrap_err();
    assert_eq!(formats(&endpoint)[4], json!("json_schema"));
}

#[tokio::test]
async fn a_429_is_retried_after_the_requested_time() {
    let endpoint = Endpoint::start([Reply::Later("0.2"), chat("ok")]).await;
    let started = Instant::now();
    assert_eq!(openai(&endpoint).complete(session()).await.unwrap().text, "ok");
    assert!(started.elapsed() >= Duration::from_millis(200), "retry-after is honoured");
    assert_eq!(endpoint.requests().len(), 2);
}

#[tokio::test]
async fn a_retry_after_of_an_hour_is_an_error() {
    let endpoint = Endpoint::start([Reply::Later("3600")]).await;
    let error = openai(&endpoint).complete(session()).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Refused { status: 429, .. }), "{error}");
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn server_errors_are_retried_and_then_reported() {
    let endpoint = Endpoint::start([Reply::Text(500, "boom"), Reply::Text(503, ""), chat("ok")]).await;
    assert_eq!(openai(&endpoint).complete(session()).await.unwrap().text, "ok");
    let endpoint = Endpoint::start([Reply::Text(500, "boom")]).await;
    let error = openai(&endpoint).complete(session()).await.unwrap_err();
    assert!(error.to_string().ends_with("answered 500: boom"), "{error}");
    assert_eq!(endpoint.requests().len(), 4, "all allowed attempts are used");
}

#[tokio::test]
async fn malformed_json_and_a_closed_connection_are_retried() {
    let endpoint = Endpoint::start([Reply::Text(200, "{\"choices\": ["), Reply::Cut, chat("ok")]).await;
    assert_eq!(openai(&endpoint).complete(session()).await.unwrap().text, "ok");
    let endpoint = Endpoint::start([Reply::Text(200, "<html>")]).await;
    let error = openai(&endpoint).complete(session()).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Malformed { .. }), "{error}");
    let endpoint = Endpoint::start([Reply::Json(200, json!({"choices": []}))]).await;
    let error = openai(&endpoint).complete(session()).await.unwrap_err();
    assert!(error.to_string().contains("choices[0].message.content"), "{error}");
}

#[tokio::test]
async fn a_response_that_never_ends_times_out() {
    let endpoint = Endpoint::start([Reply::Drip]).await;
    let runtime = OpenAiRuntime::new(&endpoint.url, "small", None, Duration::from_millis(400), QUICK).unwrap();
    let started = Instant::now();
    let error = runtime.complete(session()).await.unwrap_err();
    assert!(matches!(error, RuntimeError::TimedOut { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_response_over_the_limit_is_an_error() {
    let endpoint = Endpoint::start([Reply::Huge(10_000_000)]).await;
    let error = openai(&endpoint).complete(session()).await.unwrap_err();
    assert!(matches!(error, RuntimeError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn an_unreachable_server_is_reported_with_its_url_and_reason() {
    let runtime = OpenAiRuntime::new("http://127.0.0.1:9", "small", None, LONG, QUICK).unwrap();
    let error = runtime.complete(session()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot reach http://127.0.0.1:9/v1/chat/completions: "), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn the_api_key_is_sent_and_never_printed() {
    let endpoint = Endpoint::start([Reply::Text(401, "bad key")]).await;
    let key = ApiKey::new("sk-secret").unwrap();
    assert!(!format!("{key:?}").contains("secret"));
    let runtime = OpenAiRuntime::new(&endpoint.url, "small", Some(key), LONG, QUICK).unwrap();
    let error = runtime.complete(session()).await.unwrap_err();
    assert!(endpoint.requests()[0].0.contains("authorization: bearer sk-secret"));
    assert_eq!(endpoint.requests().len(), 1, "a rejected key is not retried");
    assert!(!format!("{error} {error:?} {}", runtime.describe()).contains("secret"));
    assert!(error.hint().unwrap().contains("api_key_env"));
}

#[test]
fn a_missing_api_key_variable_is_an_error_at_startup() {
    let error = ApiKey::from_env("BUTLER_TEST_NO_SUCH_KEY").unwrap_err();
    assert!(error.to_string().contains("BUTLER_TEST_NO_SUCH_KEY (butler.runtime.api_key_env) is not set"), "{error}");
}

#[tokio::test]
async fn anthropic_requests_carry_key_and_version() {
    let reply = json!({"content": [{"type": "text", "text": "one "}, {"type": "text", "text": "answer"}],
                       "usage": {"input_tokens": 11, "output_tokens": 2}});
    let endpoint = Endpoint::start([Reply::Text(529, "overloaded"), Reply::Json(200, reply)]).await;
    let key = ApiKey::new("sk-secret").unwrap();
    let runtime = AnthropicRuntime::new(&endpoint.url, "model-x", &key, LONG, QUICK).unwrap();
    let answer = runtime.complete(Session { system: Some("be brief".to_owned()), ..session() }).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.tokens_in, answer.tokens_out), ("one answer", Some(11), Some(2)));
    let (head, body) = &endpoint.requests()[1];
    assert!(head.starts_with("post /v1/messages http/1.1"), "{head}");
    assert!(head.contains("x-api-key: sk-secret") && head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert_eq!(body["system"], "be brief");
    assert_eq!(body["messages"], json!([{"role": "user", "content": "the prompt"}]));
}

#[tokio::test]
async fn an_api_key_echoed_by_the_server_is_masked_in_the_error() {
    let endpoint = Endpoint::start([Reply::Text(401, "invalid key sk-0123456789abcdef, go away")]).await;
    let key = ApiKey::new("sk-0123456789abcdef");
    let runtime = OpenAiRuntime::new(&endpoint.url, "small", key, LONG, QUICK).unwrap();
    let error = runtime.complete(session()).await.unwrap_err().to_string();
    assert!(error.contains("invalid key …, go away") && !error.contains("0123456789"), "{error}");
}
