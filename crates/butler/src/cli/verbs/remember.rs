use butler_domain::Permanence;
use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::input::{given, object, one_of, text};
use super::{Output, Request, show};
use crate::printer::Printer;

/// Store an episode, a fact or a rule
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember episode 'Deployed 2.3 to production; the migration took 40 minutes.'\n  \
    butler remember fact user allergy 'severe, to peanuts' --permanence permanent\n  \
    butler remember rule 'Ask about allergies before suggesting a recipe.' --tag cooking\n  \
    git log -1 --format=%B | butler remember episode -")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Episode(EpisodeArgs),
    Fact(FactArgs),
    Rule(RuleArgs),
}

/// What happened: kept for days, and learned from
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember episode 'Anna asked for the report in French.'\n  \
    butler remember episode - < notes.txt\n  \
    butler remember episode 'The backup failed.' --importance 8 --json")]
struct EpisodeArgs {
    /// What happened; `-` reads it from stdin
    content: Option<String>,
    /// The session it belongs to
    #[arg(long, value_name = "UUID")]
    session_id: Option<Uuid>,
    /// How much it matters, 0 to 10 [default: 5]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    output: Output,
}

/// What is true: supersedes the active fact of the same subject, predicate and scope
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember fact user favorite_color blue\n  \
    butler remember fact 'Anna Berg' employer 'Anna works at Initech.' --permanence stable\n  \
    echo 'severe, to peanuts' | butler remember fact user allergy -")]
struct FactArgs {
    /// Who or what it is about
    subject: String,
    /// Which property, always spelled the same
    predicate: String,
    /// What is true; `-` reads it from stdin
    content: Option<String>,
    /// How much it matters, 0 to 10 [default: 5]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// How long it holds without confirmation [default: standard]
    #[arg(long, value_parser = one_of::<Permanence>(Permanence::NAMES))]
    permanence: Option<Permanence>,
    /// `global`, or the butler it concerns [default: global]
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// A label; repeat it, or separate several by commas
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// The entity it is about
    #[arg(long, value_name = "UUID")]
    entity_id: Option<Uuid>,
    /// The episode it was learned from
    #[arg(long, value_name = "UUID")]
    source_episode_id: Option<Uuid>,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    output: Output,
}

/// What works: one instruction that later sessions should follow
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember rule 'Run the linter before every commit.' --scope code\n  \
    butler remember rule - < rule.txt")]
struct RuleArgs {
    /// The instruction; `-` reads it from stdin
    content: Option<String>,
    /// How long it holds without confirmation
    #[arg(long, value_parser = one_of::<Permanence>(Permanence::NAMES))]
    permanence: Option<Permanence>,
    /// `global`, or the butler it concerns [default: global]
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// A label; repeat it, or separate several by commas
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct More {
    /// Anything else worth keeping with it
    #[arg(long, value_name = "JSON", value_parser = object)]
    metadata: Option<Map<String, Value>>,
    /// Your name for this request: repeated with the same key, it stores nothing more
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Args {
    pub(super) fn request(self, butler: &str) -> Result<Request, HostError> {
        Ok(match self.what {
            What::Episode(args) => Request::new(
                "memory_store_episode",
                json!({
                    "content": text(args.content, "the content")?, "butler": butler, "session_id": args.session_id,
                    "importance": args.importance, "metadata": args.more.metadata,
                    "idempotency_key": args.more.idempotency_key,
                }),
                args.output,
                stored_episode,
            ),
            What::Fact(args) => Request::new(
                "memory_store_fact",
                json!({
                    "subject": args.subject, "predicate": args.predicate, "content": text(args.content, "the content")?,
                    "importance": args.importance, "permanence": args.permanence, "scope": args.scope,
                    "tags": given(args.tags), "entity_id": args.entity_id, "source_episode_id": args.source_episode_id,
                    "metadata": args.more.metadata, "idempotency_key": args.more.idempotency_key,
                }),
                args.output,
                stored_fact,
            ),
            What::Rule(args) => Request::new(
                "memory_store_rule",
                json!({
                    "content": text(args.content, "the content")?, "permanence": args.permanence, "scope": args.scope,
                    "tags": given(args.tags), "metadata": args.more.metadata,
                    "idempotency_key": args.more.idempotency_key,
                }),
                args.output,
                stored_rule,
            ),
        })
    }
}

fn stored_episode(printer: Printer, answer: &Answer) {
    printer.line(format_args!("stored episode {}", show::text(&answer.structured, "id")));
    if let Some(expires) = show::date(&answer.structured, "expires_at") {
        printer.line(format_args!("  it is kept until {expires}"));
    }
}

fn stored_fact(printer: Printer, answer: &Answer) {
    printer.line(format_args!("stored fact {}", show::text(&answer.structured, "id")));
    if let Some(old) = answer.structured.get("superseded_id").and_then(Value::as_str) {
        printer.line(format_args!("  it supersedes {old}"));
    }
}

fn stored_rule(printer: Printer, answer: &Answer) {
    printer.line(format_args!("stored rule {}", show::text(&answer.structured, "id")));
}
