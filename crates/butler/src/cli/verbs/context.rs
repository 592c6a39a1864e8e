use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::json;

use super::input::text;
use super::{Output, Request, show};
use crate::printer::Printer;

/// The block of memory a session about this prompt would start with
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler context 'Plan a dinner for Anna'\n  \
    butler context 'Fix the build' --token-budget 800\n  \
    cat prompt.txt | butler context - --json")]
pub struct Args {
    /// What the session is about; `-` reads it from stdin
    prompt: Option<String>,
    /// The most tokens of the block, headers included [default: 3000]
    #[arg(long, value_name = "NUMBER")]
    token_budget: Option<u32>,
    /// Leave facts and rules out unless one is at least this likely to be relevant, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self, butler: &str) -> Result<Request, HostError> {
        let arguments = json!({
            "trigger_prompt": text(self.prompt, "the prompt")?, "butler": butler, "token_budget": self.token_budget,
            "min_relevance": self.min_relevance,
        });
        Ok(Request::new("memory_context", arguments, self.output, block))
    }
}

fn block(printer: Printer, answer: &Answer) {
    let text = show::text(&answer.structured, "context");
    if text.is_empty() {
        printer.note("nothing is remembered that would help");
    } else {
        printer.line(text.trim_end());
    }
}
