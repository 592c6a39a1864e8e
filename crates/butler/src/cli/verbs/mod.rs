//! Commands that call one tool and print its result. Each has its own file.

mod changes;
mod confirm;
mod conflicts;
mod context;
mod entity;
mod entity_direct;
mod feedback;
mod forget;
mod forget_entity;
mod get;
pub mod input;
mod named_entity;
mod recall;
mod remember;
mod search;
mod show;
mod stats;
mod times;

use butler_domain::{MemoryType, Mode};
use butler_host::error::HostError;
use butler_memory::tool::{Answer, ErrorCode, ToolError};
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::Settings;
use super::tool_client::ToolClient;
use crate::printer::Printer;

pub use forget_entity::print_backups;
pub use show::pairs;

#[derive(Debug, Subcommand)]
pub enum Verb {
    Remember(remember::Args),
    Search(search::Args),
    Recall(recall::Args),
    Context(context::Args),
    Get(get::Args),
    Changes(changes::Args),
    Conflicts(conflicts::Args),
    Confirm(confirm::Args),
    Helpful(feedback::HelpfulArgs),
    Harmful(feedback::HarmfulArgs),
    Forget(forget::Args),
    Stats(stats::Args),
    Entity(entity::Args),
}

/// How to print the result.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Output {
    /// Print the tool's structured result as JSON
    #[arg(long)]
    json: bool,
}

/// How to rank, the same for search, recall and context.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Ranking {
    /// How candidates are found and ranked: by meaning and keywords, fused by rank (hybrid) or by score (fused), for turns of
    /// a conversation (deep), by meaning (semantic) or by keywords (keyword) [default: hybrid]
    #[arg(long, value_parser = input::one_of::<Mode>(Mode::NAMES))]
    mode: Option<Mode>,
    /// How many relations to follow from the people and things that the query names, 0 to 3 [default: 1, search: 0]
    #[arg(long, value_name = "NUMBER")]
    hops: Option<u32>,
}

/// The tool call that a command makes.
struct Request {
    tool: &'static str,
    arguments: Map<String, Value>,
    output: Output,
    /// Prints the result for people.
    show: fn(Printer, &Answer),
    /// The memory types to try in turn; empty if the arguments already contain all that the tool needs.
    types: &'static [MemoryType],
}

impl Request {
    /// Drops arguments that are null: they were not given.
    fn new(tool: &'static str, arguments: Value, output: Output, show: fn(Printer, &Answer)) -> Self {
        Self { tool, arguments: show::without_nulls(arguments), output, show, types: &[] }
    }

    /// Tries each of these types unless the command line names one.
    fn among(self, types: &'static [MemoryType]) -> Self {
        if self.arguments.contains_key("memory_type") { self } else { Self { types, ..self } }
    }

    async fn call(&self, client: &ToolClient) -> Result<Answer, ToolError> {
        let mut outcome = None;
        for memory_type in self.types {
            let mut arguments = self.arguments.clone();
            arguments.insert("memory_type".to_owned(), json!(memory_type));
            match client.call(self.tool, arguments).await {
                Err(error) if error.code == ErrorCode::NotFound => outcome = Some(of_no_type(error, *memory_type)),
                found => return found,
            }
        }
        match outcome {
            Some(not_found) => Err(not_found),
            None => client.call(self.tool, self.arguments.clone()).await,
        }
    }
}

/// Rewords "there is no fact with id …" to "there is no memory with id …". Returns other errors unchanged.
fn of_no_type(error: ToolError, memory_type: MemoryType) -> ToolError {
    match error.message.strip_prefix(&format!("there is no {memory_type} ")) {
        Some(rest) => ToolError {
            message: format!("there is no memory {rest}"),
            hint: Some("check the id; `butler search` finds ids".to_owned()),
            ..error
        },
        None => error,
    }
}

impl Verb {
    /// Entity commands take names, which the client resolves.
    async fn request(self, client: &ToolClient) -> Result<Request, HostError> {
        let butler = client.butler();
        match self {
            Self::Remember(args) => args.request(butler),
            Self::Search(args) => args.request(),
            Self::Changes(args) => Ok(args.request()),
            Self::Conflicts(args) => Ok(args.request()),
            Self::Recall(args) => args.request(),
            Self::Context(args) => args.request(butler),
            Self::Get(args) => Ok(args.request()),
            Self::Confirm(args) => Ok(args.request()),
            Self::Helpful(args) => args.request(),
            Self::Harmful(args) => args.request(),
            Self::Forget(args) => args.request(),
            Self::Stats(args) => Ok(args.request()),
            Self::Entity(args) => args.request(client).await,
        }
    }
}

pub async fn run(mut verb: Verb, settings: &Settings, printer: Printer) -> Result<(), HostError> {
    let stores = matches!(verb, Verb::Remember(_));
    if let Verb::Entity(args) = &mut verb {
        if let Some(direct) = args.direct() {
            return direct.run(settings, printer).await;
        }
        args.find_merged(settings).await?;
    }
    let client = ToolClient::open(settings)?;
    if let Verb::Forget(args) = &verb
        && let Some(forgetting) = args.of_entity()
    {
        let outcome = forgetting.run(&client, printer).await;
        let closed = client.finish().await;
        return outcome.and(closed);
    }
    let request = match verb.request(&client).await {
        Ok(request) => request,
        Err(error) => return client.finish().await.and(Err(error)),
    };
    let outcome = request.call(&client).await;
    match &outcome {
        Ok(answer) if request.output.json => printer.json(&answer.structured),
        Ok(answer) => {
            (request.show)(printer, answer);
            if stores && client.is_one_of_several() {
                printer.line(format_args!("  in butler {}", client.butler()));
            }
            if let Some(count) = answer.structured.get("redacted").and_then(Value::as_u64) {
                printer.note(super::redacted(count));
            }
        }
        Err(_) => {}
    }
    let closed = client.finish().await;
    outcome.map_err(HostError::Tool)?;
    closed
}
