use butler_domain::Permanence;
use butler_domain::text::flatten_line;
use butler_host::error::HostError;
use butler_memory::tool::Answer;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::input::{non_empty, object, one_of, text};
use super::{Output, Request, show};
use crate::printer::Printer;

/// Store an episode, a fact or a rule
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember episode 'Deployed 2.3; the migration took 40 minutes.'\n  \
    butler remember fact user allergy 'severe, to peanuts' --permanence permanent\n  \
    butler remember rule 'Ask about allergies before a recipe.' --tag cooking\n  \
    git log -1 --format=%B | butler remember episode -")]
pub struct Args {
    #[command(subcommand)]
    memory: Kind,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    Episode(EpisodeArgs),
    Fact(Box<FactArgs>),
    Rule(RuleArgs),
}

/// Store an episode: something that happened
///
/// Consolidation learns facts and rules from episodes. Episodes expire after some days.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember episode 'Anna asked for the report in French.'\n  \
    butler remember episode - < notes.txt\n  \
    butler remember episode 'The backup failed.' --importance 8 --json")]
struct EpisodeArgs {
    /// What happened; `-` reads it from stdin
    content: Option<String>,
    /// Session in which it happened
    #[arg(long, value_name = "UUID")]
    session_id: Option<Uuid>,
    /// Importance, 0 to 10 [default: 5]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// When it happened, if not now
    #[arg(long, value_name = "DATE")]
    occurred_at: Option<String>,
    #[command(flatten)]
    options: StoreOptions,
    #[command(flatten)]
    output: Output,
}

/// Store a fact: something that is true
///
/// Supersedes the active fact with the same subject, predicate and scope, unless the predicate holds several values (`likes`,
/// `knows`, …). The same statement again confirms the known fact.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember fact user favorite_color blue\n  \
    butler remember fact 'Anna Berg' employer Initech --permanence stable\n  \
    butler remember fact Anna has_sister Beth --object Beth\n  \
    butler remember fact Anna lives_in Oslo --valid-from 2018 --valid-to 2023-03\n  \
    echo 'severe, to peanuts' | butler remember fact user allergy -")]
struct FactArgs {
    /// Who or what the fact is about
    subject: String,
    /// Property of the subject; case, spaces, hyphens and underscores do not matter
    predicate: String,
    /// What is true; `-` reads it from stdin
    content: Option<String>,
    /// Importance, 0 to 10 [default: 5]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// How slowly the fact decays without confirmation [default: standard]
    #[arg(long, value_parser = one_of::<Permanence>(Permanence::NAMES))]
    permanence: Option<Permanence>,
    /// `global`, or the butler that the memory is for [default: global]
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Label; repeatable, or separated by commas
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Entity that the fact is about
    #[arg(long, value_name = "UUID")]
    entity_id: Option<Uuid>,
    /// Name of the person or thing that the fact relates the subject to
    #[arg(long, value_name = "NAME", conflicts_with = "object_entity_id")]
    object: Option<String>,
    /// The same, by its id
    #[arg(long, value_name = "UUID")]
    object_entity_id: Option<Uuid>,
    /// Since when it is true: a year, month, day or time; a future date is a plan
    #[arg(long, value_name = "DATE")]
    valid_from: Option<String>,
    /// From when on it is no longer true; a past date makes it history beside what is true now
    #[arg(long, value_name = "DATE")]
    valid_to: Option<String>,
    /// When the source said it, if not now
    #[arg(long, value_name = "DATE")]
    observed_at: Option<String>,
    /// Episode that the fact was learned from
    #[arg(long, value_name = "UUID")]
    source_episode_id: Option<Uuid>,
    #[command(flatten)]
    options: StoreOptions,
    #[command(flatten)]
    output: Output,
}

/// Store a rule: one instruction for later sessions to follow
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    butler remember rule 'Run the linter before every commit.' --scope code\n  \
    butler remember rule - < rule.txt")]
struct RuleArgs {
    /// The instruction; `-` reads it from stdin
    content: Option<String>,
    /// How slowly the rule decays without confirmation
    #[arg(long, value_parser = one_of::<Permanence>(Permanence::NAMES))]
    permanence: Option<Permanence>,
    /// `global`, or the butler that the memory is for [default: global]
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Label; repeatable, or separated by commas
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Episode that the rule was learned from
    #[arg(long, value_name = "UUID")]
    source_episode_id: Option<Uuid>,
    #[command(flatten)]
    options: StoreOptions,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct StoreOptions {
    /// Additional data to store with the memory
    #[arg(long, value_name = "JSON", value_parser = object)]
    metadata: Option<Map<String, Value>>,
    /// Key that identifies this request; a repeated request with the same key stores nothing
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Args {
    pub(super) fn request(self, butler: &str) -> Result<Request, HostError> {
        Ok(match self.memory {
            Kind::Episode(args) => Request::new(
                "memory_store_episode",
                json!({
                    "content": text(args.content, "the content")?, "butler": butler, "session_id": args.session_id,
                    "importance": args.importance, "occurred_at": args.occurred_at, "metadata": args.options.metadata,
                    "idempotency_key": args.options.idempotency_key,
                }),
                args.output,
                print_stored_episode,
            ),
            Kind::Fact(args) => Request::new(
                "memory_store_fact",
                json!({
                    "subject": args.subject, "predicate": args.predicate, "content": text(args.content, "the content")?,
                    "importance": args.importance, "permanence": args.permanence, "scope": args.scope,
                    "tags": non_empty(args.tags), "entity_id": args.entity_id,
                    "object": args.object, "object_entity_id": args.object_entity_id, "source_episode_id": args.source_episode_id,
                    "valid_from": args.valid_from, "valid_to": args.valid_to, "observed_at": args.observed_at,
                    "metadata": args.options.metadata, "idempotency_key": args.options.idempotency_key,
                }),
                args.output,
                print_stored_fact,
            ),
            Kind::Rule(args) => Request::new(
                "memory_store_rule",
                json!({
                    "content": text(args.content, "the content")?, "permanence": args.permanence, "scope": args.scope,
                    "tags": non_empty(args.tags), "source_episode_id": args.source_episode_id,
                    "metadata": args.options.metadata, "idempotency_key": args.options.idempotency_key,
                }),
                args.output,
                print_stored_rule,
            ),
        })
    }
}

fn print_stored_episode(printer: Printer, answer: &Answer) {
    printer.line(format_args!("stored episode {}", show::text(&answer.structured, "id")));
    if let Some(expires) = show::date(&answer.structured, "expires_at") {
        printer.line(format_args!("  expires {expires}"));
    }
    if answer.structured.get("held") == Some(&Value::Bool(true)) {
        printer.line("  held, because it looks like an instruction; release it with `butler review approve ID`");
    }
}

fn print_stored_fact(printer: Printer, answer: &Answer) {
    let confirmed = answer.structured.get("confirmed") == Some(&Value::Bool(true));
    let verb = if confirmed { "confirmed" } else { "stored" };
    printer.line(format_args!("{verb} fact {}", show::text(&answer.structured, "id")));
    if let Some(found) = answer.structured.get("linked_by").and_then(Value::as_str) {
        let who = if found == "owner" { "the owner" } else { "the entity of this name" };
        printer.line(format_args!("  about {who}, {}", show::text(&answer.structured, "entity_id")));
    }
    for (key, name, option) in
        [("candidates", "subject", "--entity-id"), ("object_candidates", "object", "--object-entity-id")]
    {
        let candidates = answer.structured.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if candidates.is_empty() {
            continue;
        }
        printer.line(format_args!(
            "  several entities have the {name}'s name; store the same fact again with {option} and one of these ids:"
        ));
        for entity in candidates.iter().filter_map(Value::as_object) {
            let called = flatten_line(show::text(entity, "canonical_name"));
            let (id, kind) = (show::text(entity, "entity_id"), show::text(entity, "entity_type"));
            printer.line(format_args!("    {id}  {called} ({kind})"));
        }
    }
    if let Some(old) = answer.structured.get("superseded_id").and_then(Value::as_str) {
        printer.line(format_args!("  supersedes {old}"));
    }
}

fn print_stored_rule(printer: Printer, answer: &Answer) {
    printer.line(format_args!("stored rule {}", show::text(&answer.structured, "id")));
}
