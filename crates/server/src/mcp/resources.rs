//! Memory as resources, for clients in which a person selects what the model reads. The tools offer the same.

use butler_host::access::Access;
use butler_memory::tool::{ErrorCode, ToolError};
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};

use super::handler::Handler;

const STATS: &str = "memory://stats";
const SCHEME: &str = "memory://";
pub(super) const CONTEXT: &str = "memory://context/{butler}";
pub(super) const ONE: &str = "memory://{type}/{id}";
/// The types of `memory://{type}/{id}`.
pub(super) const TYPES: [&str; 3] = ["episode", "fact", "rule"];
/// The topic of a context before the user has asked anything.
const BEGINNING: &str = "who the user is, what is going on now, and how they want things done";

pub(super) fn list(butler: &str) -> Vec<Resource> {
    vec![
        Resource::new(STATS, "stats")
            .with_title("Memory statistics")
            .with_description("How many episodes, facts and rules there are, and in which state")
            .with_mime_type("application/json"),
        Resource::new(format!("memory://context/{butler}"), "context")
            .with_title("What a session should know from its beginning")
            .with_description("The most useful facts, rules and recent episodes, within the token budget")
            .with_mime_type("text/markdown"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(CONTEXT, "context")
            .with_title("The memory context of a butler")
            .with_description("The block a session of this butler begins with")
            .with_mime_type("text/markdown"),
        ResourceTemplate::new(ONE, "memory")
            .with_title("One memory")
            .with_description("An episode, a fact or a rule with all its fields; type is episode, fact or rule")
            .with_mime_type("application/json"),
    ]
}

/// The tool that reads a resource, and its arguments.
fn tool_of(uri: &str) -> Option<(&'static str, Value)> {
    if uri == STATS {
        return Some(("memory_stats", json!({})));
    }
    let (kind, name) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    match kind {
        "context" => Some(("memory_context", json!({"trigger_prompt": BEGINNING, "butler": name}))),
        kind if TYPES.contains(&kind) => Some(("memory_get", json!({"memory_type": kind, "memory_id": name}))),
        _ => None,
    }
}

pub(super) async fn read(handler: &Handler, access: &Access, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({"uri": uri})));
    let (tool, arguments) = tool_of(uri).ok_or_else(unknown)?;
    let tool = handler.tool(tool).ok_or_else(unknown)?;
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let answer = handler.call(access, tool, arguments).await.map_err(|error| refused(&error, uri))?;
    let contents = match answer.text {
        Some(text) => ResourceContents::text(text, uri).with_mime_type("text/markdown"),
        None => {
            let text = Value::Object(answer.structured).to_string();
            ResourceContents::text(text, uri).with_mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

fn refused(error: &ToolError, uri: &str) -> ErrorData {
    let message = match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    };
    let about = Some(json!({"uri": uri, "error": error.code}));
    match error.code {
        ErrorCode::NotFound => ErrorData::resource_not_found(message, about),
        ErrorCode::InvalidArgument | ErrorCode::Forbidden => ErrorData::invalid_params(message, about),
        ErrorCode::InvalidState | ErrorCode::Conflict | ErrorCode::Unavailable | ErrorCode::Internal => {
            ErrorData::internal_error(message, about)
        }
    }
}
