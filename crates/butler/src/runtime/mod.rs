//! The LLM a butler thinks with: a program, or an HTTP endpoint. Without one, consolidation is a dry run.

pub mod anthropic;
pub mod command;
pub mod http;
pub mod openai;

pub use anthropic::AnthropicRuntime;
pub use command::CommandRuntime;
pub use http::{ApiKey, Retries};
pub use openai::OpenAiRuntime;

/// The longest answer that is read. A full batch of actions is some 50 KB; beyond this a model runs in circles.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// As much of a foreign message as a reader needs.
const EXCERPT_CHARS: usize = 500;

/// The end of a foreign text, on one line, short enough for an error message.
fn excerpt(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let skip = flat.chars().count().saturating_sub(EXCERPT_CHARS);
    if skip == 0 { flat } else { format!("…{}", flat.chars().skip(skip).collect::<String>()) }
}
