//! The memory context for a new session or a prompt.

use std::path::PathBuf;
use std::time::Duration;

use butler_domain::limits;
use butler_host::error::HostError;
use serde_json::{Value, json};

use super::{Deadline, Input, call, object, open_client, transcript};
use crate::cli::Settings;

/// The budget of the context of a single prompt. Prompts are frequent, and the session already has its initial context, so
/// a prompt gets only the first memories. It has no relevance floor of its own: docs/adr/0202-ranking.md says why.
const PROMPT_TOKENS: u32 = 800;

/// Time to stop what the hook started in its own process, also after the deadline: it must not leave a server behind.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn session(mut input: Input, settings: &Settings, deadline: Deadline) -> Result<Value, HostError> {
    if input.prompt.trim().is_empty() {
        let transcript = PathBuf::from(&input.transcript_path);
        let last = deadline.block("the transcript", move || transcript::last_prompt(&transcript)).await?;
        input.prompt = last.unwrap_or_default();
    }
    context(&input, "SessionStart", &trigger(&input), None, settings, deadline).await
}

pub async fn prompt(input: Input, settings: &Settings, deadline: Deadline) -> Result<Value, HostError> {
    if input.prompt.trim().is_empty() {
        return Ok(json!({}));
    }
    context(&input, "UserPromptSubmit", &input.prompt, Some(PROMPT_TOKENS), settings, deadline).await
}

/// The session that the context is for. One that no agent would send is left out, because a hook must not fail over it.
fn session_id(input: &Input) -> Option<&str> {
    let id = input.session_id.trim();
    (!id.is_empty() && id.len() <= limits::SESSION_ID_BYTES).then_some(id)
}

/// The text to retrieve memories for: the prompt, or for a resumed session its last prompt, and the project's name.
fn trigger(input: &Input) -> String {
    match (input.prompt.trim(), input.project()) {
        ("", "") => "a new session".to_owned(),
        ("", project) => format!("Working on the project {project}"),
        (prompt, "") => prompt.to_owned(),
        (prompt, project) => format!("{prompt}\n(in the project {project})"),
    }
}

async fn context(
    input: &Input,
    event: &str,
    trigger: &str,
    token_budget: Option<u32>,
    settings: &Settings,
    deadline: Deadline,
) -> Result<Value, HostError> {
    let client = open_client(settings)?;
    let name = if token_budget.is_some() { "user-prompt" } else { "session-start" };
    let mut arguments = json!({"trigger_prompt": trigger, "butler": client.butler(),
        "request_context": {"request_id": format!("hook {name}"), "session_id": session_id(input)}});
    if let Some(tokens) = token_budget {
        arguments["token_budget"] = json!(tokens);
    }
    let answer = call(&client, "memory_context", object(arguments), deadline).await;
    let closed = tokio::time::timeout(STOP_TIMEOUT, client.close()).await;
    let answer = answer?;
    closed.unwrap_or(Ok(()))?;
    let event = if input.hook_event_name.is_empty() { event } else { &input.hook_event_name };
    let text = answer.text.unwrap_or_default();
    Ok(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
}
