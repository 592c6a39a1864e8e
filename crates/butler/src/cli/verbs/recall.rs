use butler_host::error::HostError;
use serde_json::json;

use super::input::question;
use super::{Output, Request, show};

/// What to know about a topic: facts and rules, the most useful first
///
/// By relevance, importance, recency and confidence together. What is returned counts as used.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler recall 'dinner with Anna'\n  \
    butler recall deployment --scope code --limit 5\n  \
    butler recall 'release day' --json")]
pub struct Args {
    /// What you are about to do or want to know; `-` reads it from stdin
    topic: Option<String>,
    /// Only this scope and the global one
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// The most results, 0 to 100 [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Leave out what has decayed below this confidence, 0 to 1 [default: 0.2]
    #[arg(long, value_name = "NUMBER")]
    min_confidence: Option<f64>,
    /// Return nothing unless something is at least this likely to be relevant, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
    /// Also tell how each result came about (with --json)
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Result<Request, HostError> {
        let arguments = json!({
            "topic": question(self.topic, "the topic")?, "scope": self.scope, "limit": self.limit,
            "min_confidence": self.min_confidence, "min_relevance": self.min_relevance,
            "explain": self.explain.then_some(true),
        });
        Ok(Request::new("memory_recall", arguments, self.output, show::hits))
    }
}
