//! The tools from the shell: one file a verb. Each makes one call and shows its answer.

mod confirm;
mod context;
mod entity;
mod feedback;
mod forget;
mod get;
pub mod input;
mod recall;
mod remember;
mod search;
mod show;
mod stats;

use butler_host::error::HostError;
use butler_memory::tool::Answer;
use clap::Subcommand;
use serde_json::{Map, Value};

use super::Settings;
use super::tool_client::ToolClient;
use crate::printer::Printer;

#[derive(Debug, Subcommand)]
pub enum Verb {
    Remember(remember::Args),
    Search(search::Args),
    Recall(recall::Args),
    Context(context::Args),
    Get(get::Args),
    Confirm(confirm::Args),
    Helpful(feedback::HelpfulArgs),
    Harmful(feedback::HarmfulArgs),
    Forget(forget::Args),
    Stats(stats::Args),
    Entity(entity::Args),
}

/// How the answer is written.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Output {
    /// Print the tool's structured answer as JSON
    #[arg(long)]
    json: bool,
}

/// The call a verb comes to.
struct Request {
    tool: &'static str,
    arguments: Map<String, Value>,
    output: Output,
    /// The answer for people.
    show: fn(Printer, &Answer),
}

impl Request {
    /// Arguments that are null were not given.
    fn new(tool: &'static str, arguments: Value, output: Output, show: fn(Printer, &Answer)) -> Self {
        let mut given = match arguments {
            Value::Object(given) => given,
            _ => Map::new(),
        };
        given.retain(|_, value| !value.is_null());
        Self { tool, arguments: given, output, show }
    }
}

impl Verb {
    fn request(self, butler: &str) -> Result<Request, HostError> {
        match self {
            Self::Remember(args) => args.request(butler),
            Self::Search(args) => args.request(),
            Self::Recall(args) => args.request(),
            Self::Context(args) => args.request(butler),
            Self::Get(args) => Ok(args.request()),
            Self::Confirm(args) => Ok(args.request()),
            Self::Helpful(args) => Ok(args.request()),
            Self::Harmful(args) => args.request(),
            Self::Forget(args) => Ok(args.request()),
            Self::Stats(args) => Ok(args.request()),
            Self::Entity(args) => args.request(),
        }
    }
}

pub async fn run(verb: Verb, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let client = ToolClient::open(settings)?;
    let request = verb.request(client.butler())?;
    let outcome = client.call(request.tool, request.arguments).await;
    let closed = client.close().await;
    let answer = outcome.map_err(HostError::Tool)?;
    if request.output.json {
        printer.json(&answer.structured);
    } else {
        (request.show)(printer, &answer);
    }
    closed
}
