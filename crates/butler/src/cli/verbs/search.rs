use butler_domain::MemoryType;
use butler_host::error::HostError;
use serde_json::json;

use super::input::{given, one_of, question};
use super::{Output, Request, show};

/// Find memories by meaning and by words
///
/// Looking around does not count as using a memory; `recall` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler search 'what can Anna not eat?'\n  \
    butler search deployment --type episode --limit 3\n  \
    butler search 'error 0x80070005' --mode keyword --json")]
pub struct Args {
    /// What to look for, in plain words; `-` reads it from stdin
    query: Option<String>,
    /// Which kinds of memory; repeat it, or separate several by commas [default: all]
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',', value_parser = one_of::<MemoryType>(MemoryType::NAMES))]
    types: Vec<MemoryType>,
    /// Only this scope and the global one
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// How to look: by both, by meaning, by words, or for turns of a conversation [default: hybrid]
    #[arg(long, value_parser = ["hybrid", "semantic", "keyword", "deep"])]
    mode: Option<String>,
    /// The most results, 0 to 100 [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<u32>,
    /// Leave out what has decayed below this confidence, 0 to 1 [default: 0.2]
    #[arg(long, value_name = "NUMBER")]
    min_confidence: Option<f64>,
    /// Return nothing unless something is at least this likely to answer, 0 to 1
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
            "query": question(self.query, "the query")?, "types": given(self.types), "scope": self.scope, "mode": self.mode,
            "limit": self.limit, "min_confidence": self.min_confidence, "min_relevance": self.min_relevance,
            "explain": self.explain.then_some(true),
        });
        Ok(Request::new("memory_search", arguments, self.output, show::hits))
    }
}
