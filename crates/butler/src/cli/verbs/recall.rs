use butler_host::error::HostError;
use serde_json::json;

use super::input::text_or_empty;
use super::times::TimeOptions;
use super::{Output, Ranking, Request, show};

/// List the facts and rules about a topic, most useful first
///
/// The order combines relevance, importance, recency and confidence. Each returned memory counts as referenced.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler recall 'dinner with Anna'\n  \
    butler recall deployment --scope code --limit 5\n  \
    butler recall 'release day' --json")]
pub struct Args {
    /// What you plan to do or want to know; `-` reads it from stdin
    topic: Option<String>,
    /// Only memories of this scope and the global scope
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    #[command(flatten)]
    ranking: Ranking,
    #[command(flatten)]
    time: TimeOptions,
    /// Maximum number of results, 0 to 100 [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Omit memories whose confidence has decayed below this value, 0 to 1 [default: 0.2]
    #[arg(long, value_name = "NUMBER")]
    min_confidence: Option<f64>,
    /// Return nothing unless at least one result has this probability of being relevant, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
    /// Include how each score was computed (with --json)
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    output: Output,
}

impl Args {
    pub(super) fn request(self) -> Result<Request, HostError> {
        let mut arguments = json!({
            "topic": text_or_empty(self.topic, "the topic")?, "scope": self.scope, "mode": self.ranking.mode, "hops": self.ranking.hops, "limit": self.limit,
            "min_confidence": self.min_confidence, "min_relevance": self.min_relevance,
            "explain": self.explain.then_some(true),
        });
        self.time.add_to(&mut arguments);
        Ok(Request::new("memory_recall", arguments, self.output, show::print_results))
    }
}
