//! `butler why-not` explains why a call does not return a memory.

use butler_domain::{MemoryType, Mode, Scope, validate};
use butler_host::access::CLI_ACTOR;
use butler_host::error::HostError;
use butler_memory::browse::ServedBy;
use butler_memory::times::TimeFilterTexts;
use butler_memory::tool::{ErrorCode, ToolError};
use butler_memory::{Call, MemoryError, WhyNot, WhyNotRequest};
use uuid::Uuid;

use super::Settings;
use super::opened_butler::OpenedButler;
use super::verbs::input::one_of;
use crate::printer::{Colour, Printer};

/// Explain why a query does not return a memory, and what would change that
///
/// Runs the recall, search or context again without counting references, and shows the memory's ranks, its score, and the
/// filter that excludes it or the cut that it misses.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler why-not 'dinner with Anna' 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa\n  \
    butler why-not 'Fix it' 01993c1e-8a70-7d0c-b1a5-54d2a1f0c3aa --tool context")]
pub struct Args {
    /// The query, topic or prompt
    query: String,
    /// Id of the fact, rule or episode
    #[arg(value_name = "ID")]
    id: Uuid,
    /// The tool that is called
    #[arg(long, value_name = "NAME", default_value = "recall", value_parser = ["recall", "search", "context"])]
    tool: String,
    /// Only this scope and the global scope; of a context, the butler whose session it is
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// How candidates are found and ranked [default: that of the tool]
    #[arg(long, value_parser = one_of::<Mode>(Mode::NAMES))]
    mode: Option<Mode>,
    /// Maximum number of results [default: 10]
    #[arg(short = 'n', long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Minimum confidence, 0 to 1 [default: 0.2]
    #[arg(long, value_name = "NUMBER")]
    min_confidence: Option<f64>,
    /// Minimum probability of being relevant, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_relevance: Option<f64>,
    /// How many relations to follow, 0 to 3
    #[arg(long, value_name = "NUMBER")]
    hops: Option<usize>,
    /// Token budget of a context [default: 3000]
    #[arg(long, value_name = "NUMBER")]
    token_budget: Option<usize>,
    /// What was true then: a year, month, day or time [default: now]
    #[arg(long, value_name = "DATE")]
    valid_at: Option<String>,
    /// What was believed then
    #[arg(long, value_name = "DATE")]
    as_of: Option<String>,
    /// Only what was said, stored or happened since then
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only what was said, stored or happened until then
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Print the explanation as JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let opened = OpenedButler::open(settings).await?;
    let told = explain(&args, settings, &opened).await.map_err(|error| HostError::Tool(error.into()));
    let told = opened.close(told).await?;
    let Some(told) = told else {
        let message = format!("there is no memory with id {}", args.id);
        return Err(HostError::Tool(ToolError::new(ErrorCode::NotFound, message)));
    };
    if args.json {
        printer.json(&told);
    } else {
        print(&told, printer);
    }
    Ok(())
}

async fn explain(args: &Args, settings: &Settings, opened: &OpenedButler) -> Result<Option<WhyNot>, MemoryError> {
    let memory = &opened.memory;
    let call = Call::internal(memory, settings.tenant.clone().unwrap_or_default(), CLI_ACTOR);
    let times = TimeFilterTexts {
        valid_at: args.valid_at.as_deref(),
        as_of: args.as_of.as_deref(),
        since: args.since.as_deref(),
        until: args.until.as_deref(),
    };
    let request = WhyNotRequest {
        tool: match args.tool.as_str() {
            "search" => ServedBy::Search,
            "context" => ServedBy::Context,
            _ => ServedBy::Recall,
        },
        query: validate::query(&args.query).0,
        id: args.id,
        types: None,
        scope: args.scope.clone().map(Scope::new).transpose().map_err(butler_domain::Invalid::from)?,
        mode: args.mode,
        limit: args.limit,
        min_confidence: args.min_confidence,
        min_relevance: args.min_relevance,
        hops: args.hops.map(|hops| hops.min(butler_domain::limits::NEIGHBOR_DEPTH)),
        token_budget: args.token_budget,
        time_filter: memory.time_filter(call.now, times)?,
    };
    memory.why_not(&call, &request).await
}

fn print(told: &WhyNot, printer: Printer) {
    printer.line(format_args!("{} {}  {}", MemoryType::as_str(told.memory_type), told.id, told.label));
    let rank =
        |rank: Option<usize>| rank.map_or_else(|| format!("not in the first {}", told.searched), |n| n.to_string());
    let ranks = format!("by meaning {}, by words {}", rank(told.semantic_rank), rank(told.keyword_rank));
    printer.line(printer.on_out(&format!("  rank {ranks}"), Colour::Dim));
    if let Some(hit) = &told.hit {
        let last =
            told.last_served.as_ref().map(|last| format!(", last returned {:.3}", last.score)).unwrap_or_default();
        printer.line(printer.on_out(&format!("  score {:.3}{last}", hit.score), Colour::Dim));
    }
    if told.served {
        let place = told.rank.map(|rank| format!(" at place {rank}")).unwrap_or_default();
        return printer.line(format_args!("it is returned{place}"));
    }
    for reason in &told.reasons {
        printer.line(format_args!("not returned: {}", reason.message));
        printer.line(format_args!("  {}", reason.remedy));
    }
}
