use butler_domain::MemoryType;
use butler_host::error::HostError;
use serde_json::json;

use super::input::{non_empty, one_of, text_or_empty};
use super::times::TimeOptions;
use super::{Output, Ranking, Request, show};

/// Find memories by meaning and keywords
///
/// Searching does not count as a reference to a memory; `recall` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler search 'what can Anna not eat?'\n  \
    butler search deployment --type episode --limit 3\n  \
    butler search 'error 0x80070005' --mode keyword --json")]
pub struct Args {
    /// What to search for, in plain words; `-` reads it from stdin
    query: Option<String>,
    /// Types of memory to search; repeatable, or separated by commas [default: all]
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    types: Vec<MemoryType>,
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
    /// Return nothing unless at least one result has this probability of answering the query, 0 to 1
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
            "query": text_or_empty(self.query, "the query")?, "types": non_empty(self.types), "scope": self.scope, "mode": self.ranking.mode, "hops": self.ranking.hops,
            "limit": self.limit, "min_confidence": self.min_confidence, "min_relevance": self.min_relevance,
            "explain": self.explain.then_some(true),
        });
        self.time.add_to(&mut arguments);
        Ok(Request::new("memory_search", arguments, self.output, show::print_results))
    }
}
