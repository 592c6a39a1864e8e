//! The LLM of a butler: a program or an HTTP endpoint. Without one, consolidation is a dry run.

pub mod anthropic;
pub mod command;
pub mod environment;
pub mod http;
mod invocation;
pub mod openai;
mod ordered_schema;
mod private_dir;

pub use anthropic::AnthropicRuntime;
pub use command::CommandRuntime;
pub use http::{ApiKey, Retries};
pub use openai::OpenAiRuntime;

use std::sync::Arc;
use std::time::Duration;

use butler_memory::runtime::{Runtime, RuntimeError};

use crate::config::{RuntimeSection, RuntimeType};

/// Maximum size of a response. A full batch of actions takes about 50 KB; a much longer response means that the model
/// repeats itself.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
/// How much of a foreign error message to show.
const EXCERPT_CHARS: usize = 500;

/// The end of a text on one line, short enough for an error message.
fn excerpt(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skip = flat.chars().count().saturating_sub(EXCERPT_CHARS);
    if skip == 0 { flat } else { format!("…{}", flat.chars().skip(skip).collect::<String>()) }
}

/// The variable that Anthropic's own tools read.
const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";

/// Creates the configured runtime, with its API key from the environment.
pub fn from_config(section: &RuntimeSection) -> Result<Arc<dyn Runtime>, RuntimeError> {
    let timeout = Duration::from_secs(section.timeout_s);
    let missing = |key: &str| RuntimeError::Misconfigured(format!("[butler.runtime] {key} is missing"));
    let model = || section.model.as_deref().ok_or_else(|| missing("model"));
    Ok(match section.kind {
        RuntimeType::Command => Arc::new(CommandRuntime::new(&section.command, timeout)?.with_variables(&section.env)),
        RuntimeType::Openai => {
            let base_url = section.base_url.as_deref().ok_or_else(|| missing("base_url"))?;
            let key = section.api_key_env.as_deref().map(ApiKey::from_env).transpose()?;
            Arc::new(OpenAiRuntime::new(base_url, model()?, key, timeout, Retries::default())?)
        }
        RuntimeType::Anthropic => {
            let base_url = section.base_url.as_deref().unwrap_or(anthropic::BASE_URL);
            let key = ApiKey::from_env(section.api_key_env.as_deref().unwrap_or(ANTHROPIC_KEY))?;
            Arc::new(AnthropicRuntime::new(base_url, model()?, &key, timeout, Retries::default())?)
        }
    })
}
