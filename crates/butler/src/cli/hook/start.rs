//! What memory knows, for a session that begins or a prompt that was sent.

use std::path::Path;
use std::time::Duration;

use butler_host::error::HostError;
use serde_json::{Value, json};

use super::{Input, call, object, open_client, transcript};
use crate::cli::Settings;

/// A prompt comes often, and what the session began with is still there: only what is likely to matter, and little.
const PROMPT_RELEVANCE: f64 = 0.05;
const PROMPT_TOKENS: u32 = 800;

pub async fn session(input: &Input, settings: &Settings, timeout: Duration) -> Result<Value, HostError> {
    context(input, "SessionStart", &trigger(input), None, settings, timeout).await
}

pub async fn prompt(input: &Input, settings: &Settings, timeout: Duration) -> Result<Value, HostError> {
    if input.prompt.trim().is_empty() {
        return Ok(json!({}));
    }
    context(input, "UserPromptSubmit", &input.prompt, Some((PROMPT_RELEVANCE, PROMPT_TOKENS)), settings, timeout).await
}

/// What is known about a session that has no prompt yet: the project; of one that goes on, what was asked last.
fn trigger(input: &Input) -> String {
    let asked = if input.prompt.trim().is_empty() {
        transcript::last_prompt(Path::new(&input.transcript_path)).unwrap_or_default()
    } else {
        input.prompt.clone()
    };
    let project = input.project();
    match (asked.trim(), project) {
        ("", "") => "a new session".to_owned(),
        ("", project) => format!("Working on the project {project}"),
        (asked, "") => asked.to_owned(),
        (asked, project) => format!("{asked}\n(in the project {project})"),
    }
}

async fn context(
    input: &Input,
    event: &str,
    trigger: &str,
    narrow: Option<(f64, u32)>,
    settings: &Settings,
    timeout: Duration,
) -> Result<Value, HostError> {
    let client = open_client(settings)?;
    let mut arguments = json!({"trigger_prompt": trigger, "butler": client.butler()});
    if let Some((relevance, tokens)) = narrow {
        arguments["min_relevance"] = json!(relevance);
        arguments["token_budget"] = json!(tokens);
    }
    let answer = call(&client, "memory_context", object(arguments), timeout).await;
    let closed = client.close().await;
    let answer = answer?;
    closed?;
    let event = if input.hook_event_name.is_empty() { event } else { &input.hook_event_name };
    let text = answer.text.unwrap_or_default();
    Ok(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
}
