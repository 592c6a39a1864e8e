use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::json;

use super::input::text;
use super::times::TimeOptions;
use super::{Output, Ranking, Request, show};
use crate::printer::Printer;

/// Print the memory context that a session with this prompt starts with
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler context 'Plan a dinner for Anna'\n  \
    butler context 'Fix the build' --token-budget 800\n  \
    cat prompt.txt | butler context - --json")]
pub struct Args {
    /// Prompt of the session; `-` reads it from stdin
    prompt: Option<String>,
    /// Maximum number of tokens, including headings [default: 3000]
    #[arg(long, value_name = "NUMBER")]
    token_budget: Option<u32>,
    #[command(flatten)]
    ranking: Ranking,
    /// Also show what changed since then: a date, or how long ago: 7d
    #[arg(long, value_name = "DATE")]
    changes_since: Option<String>,
    #[command(flatten)]
    time: TimeOptions,
    /// Omit all facts and rules unless at least one has this probability of being relevant, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self, butler: &str) -> Result<Request, HostError> {
        let mut arguments = json!({
            "trigger_prompt": text(self.prompt, "the prompt")?, "butler": butler, "token_budget": self.token_budget, "mode": self.ranking.mode, "hops": self.ranking.hops,
            "min_relevance": self.min_relevance, "changes_since": self.changes_since,
        });
        self.time.add_to(&mut arguments);
        Ok(Request::new("memory_context", arguments, self.output, print_context))
    }
}

fn print_context(printer: Printer, answer: &Answer) {
    let text = show::text(&answer.structured, "context");
    if text.is_empty() {
        printer.note("no memories match this prompt");
    } else {
        printer.line(text.trim_end());
    }
}
